"""Apply each known wrong change to a copy of the code and show that the suite catches it.

``python -m tests.mutants [WORD...]`` takes those whose name or file has one of the words, and with
``--simulate`` asks nothing but ``chantry simulate --seeds 2000``, as a user would.  Exits with 1
when a mutant survives, or when the code that it changes is no longer there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutants.catalog import MUTANTS, SEEDS
from tests.mutants.hunt import hunt

if TYPE_CHECKING:
    from tests.mutants.hunt import Look


def main() -> int:
    """Try mutants, print a line for each, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("words", nargs="*", help="only mutants whose name or file has one of these")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time; 2 when absent")
    parser.add_argument(
        "--simulate", action="store_true", help="ask nothing but chantry simulate --seeds 2000"
    )
    options = parser.parse_args()
    wanted = [
        mutant
        for mutant in MUTANTS
        if not options.words
        or any(word in f"{mutant.name} {mutant.file}" for word in options.words)
    ]
    if options.simulate:
        wanted = [mutant._replace(caught_by=(SEEDS,)) for mutant in wanted]
    with tempfile.TemporaryDirectory(prefix="chantry-mutants-") as folder:
        findings = hunt(wanted, Path(folder), options.jobs, _tell)
    print(f"{len(wanted)} mutants, {len(findings)} findings")
    return 0 if wanted and not findings else 1


def _tell(look: Look) -> None:
    print(f"{look.seconds:6.1f} s  {look.name}: {look.finding or 'as it should be'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
