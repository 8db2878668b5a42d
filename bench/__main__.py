"""Run the measurements: `make bench`, or `make bench ARGS="--quick start_up streaming"`."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.client import AgentError
from bench.measures.big_lines import large_line, over_long_line
from bench.measures.cancelling import cancelling
from bench.measures.endurance import endurance
from bench.measures.ledger import ledger
from bench.measures.slow_reader import slow_reader
from bench.measures.startup import memory_at_rest, start_up
from bench.measures.streaming import streaming
from bench.peers import set_up
from bench.report import save, table, verdicts
from bench.targets import judge
from bench.workspace import workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.peers import Peers
    from bench.samples import Table
    from bench.targets import Results

LATEST = Path(__file__).resolve().parent / "results" / "latest.json"

TITLES = {
    "start_up": "Start: medians of interleaved spawns",
    "streaming": "Session updates of 200 bytes",
    "cancelling": "Cancel to the answer",
    "at_rest": "At rest, one session open",
    "endurance": "The first 50 turns and the last 50 (chant: an Op; the others: ten updates)",
    "large_line": "A prompt line of 60 MiB (sizes in multiples of the line)",
    "over_long": "A line of 65 MiB",
    "slow_reader": "A client that reads nothing for 3 s",
    "ledger": "The ledger after 100 runs, and after 100,000 (10,000 when quick)",
}


def measurements(*, quick: bool) -> dict[str, Callable[[Peers, Path], Table]]:
    """Return all measurements by name; quick ones say little, but run everything once."""
    few, many = (2, 2) if quick else (5, 15)
    return {
        "start_up": partial(start_up, repeats=many),
        "streaming": partial(streaming, repeats=few, count=20_000 if quick else 50_000),
        "cancelling": partial(cancelling, repeats=few),
        "at_rest": partial(memory_at_rest, repeats=few),
        "endurance": partial(endurance, turns=200 if quick else 1000),
        "large_line": partial(large_line, repeats=1 if quick else 5),
        "over_long": over_long_line,
        "slow_reader": partial(slow_reader, count=40_000),
        "ledger": partial(ledger, repeats=few, runs=10_000 if quick else 100_000),
    }


def main() -> int:
    """Measure, print, save; the exit code is 1 when a target is missed or an agent failed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--quick", action="store_true", help="few repeats, for trying the bench")
    options = parser.parse_args()
    print("Installing what is measured …", file=sys.stderr)
    peers = set_up()
    results: Results = {}
    failed = False
    for name, measure in measurements(quick=options.quick).items():
        if options.names and name not in options.names:
            continue
        print(f"Measuring {name} …", file=sys.stderr)
        try:
            with workspace() as cwd:
                results[name] = measure(peers, cwd)
        except AgentError as failure:
            print(f"{TITLES[name]}\n  failed: {failure}\n", flush=True)
            failed = True
            continue
        print(table(TITLES[name], results[name]), flush=True)
    judged = judge(results)
    print(verdicts(judged))
    save(LATEST, results, judged)
    return int(failed or any(verdict.met is False for verdict in judged))


if __name__ == "__main__":
    sys.exit(main())
