"""Run the measurements: `make bench`, or `make bench ARGS="--quick start_up streaming"`."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.client import AgentError
from bench.coding_agents import install_npm
from bench.measures.agent.cancel import agent_cancel
from bench.measures.agent.headless import headless, headless_stream, journal
from bench.measures.agent.lines import agent_large_line, agent_over_long
from bench.measures.agent.start import agent_start
from bench.measures.agent.stream import agent_slow_reader, agent_stream
from bench.measures.agent.turns import agent_load, agent_tools, agent_turns
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
    from bench.target import Results

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
    "agent_start": "Coding agents: from the spawn to the answers",
    "agent_turns": "Coding agents: the first 20 turns with an instant model",
    "agent_load": "Coding agents: 200 turns with an instant model, then loaded again",
    "agent_tools": "Turns of radian with a tool call",
    "agent_stream": "Coding agents: 10,000 chunks of 20 bytes",
    "agent_cancel": "Coding agents: cancel to the answer",
    "agent_slow_reader": "radian before a client that reads nothing for 3 s",
    "agent_large_line": "Coding agents: a prompt line of 60 MiB",
    "agent_over_long": "radian: a line of 65 MiB",
    "headless": "Headless: one trivial prompt, the whole process",
    "headless_stream": "Headless: 10,000 chunks of 20 bytes as events, start-up taken off",
    "journal": "radian: a journal of 100 MB",
}


def measurements(*, quick: bool) -> dict[str, Callable[[Peers, Path], Table]]:
    """Return all measurements by name; quick ones say little, but run everything once."""
    few, many = (2, 2) if quick else (5, 15)
    return {
        "start_up": partial(start_up, repeats=many),
        "streaming": partial(streaming, repeats=3 * few, count=20_000 if quick else 50_000),
        "cancelling": partial(cancelling, repeats=few),
        "at_rest": partial(memory_at_rest, repeats=few),
        "endurance": partial(endurance, turns=200 if quick else 1000),
        "large_line": partial(large_line, repeats=1 if quick else 5),
        "over_long": over_long_line,
        "slow_reader": partial(slow_reader, count=40_000),
        "ledger": partial(ledger, repeats=few, runs=10_000 if quick else 100_000),
        **_of_agents(few),
    }


def _of_agents(few: int) -> dict[str, Callable[[Peers, Path], Table]]:
    return {
        "agent_start": partial(agent_start, repeats=few + 2),
        "agent_turns": partial(agent_turns, repeats=few),
        "agent_load": partial(agent_load, repeats=few + 2),
        "agent_tools": partial(agent_tools, repeats=few),
        "agent_stream": partial(agent_stream, repeats=few),
        "agent_cancel": partial(agent_cancel, repeats=few),
        "agent_slow_reader": agent_slow_reader,
        "agent_large_line": partial(agent_large_line, repeats=few),
        "agent_over_long": agent_over_long,
        "headless": partial(headless, repeats=few),
        "headless_stream": partial(headless_stream, repeats=3 * few),
        "journal": partial(journal, repeats=few),
    }


AGENT_MEASURES = tuple(_of_agents(1))


def main() -> int:
    """Measure, print, save; the exit code is 1 when a target is missed or an agent failed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these; radian: its own")
    parser.add_argument("--quick", action="store_true", help="few repeats, for trying the bench")
    options = parser.parse_args()
    print("Installing what is measured …", file=sys.stderr)
    peers = set_up()
    wanted = [
        each for name in options.names for each in (AGENT_MEASURES if name == "radian" else (name,))
    ]
    missing = install_npm()
    if missing:
        print(f"NOT MEASURED: the coding agents of npm are missing: {missing}", flush=True)
    results: Results = {}
    failed = False
    for name, measure in measurements(quick=options.quick).items():
        if wanted and name not in wanted:
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
