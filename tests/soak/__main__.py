"""``python -m tests.soak [--turns N] [--kills N]``: a real server for long, and a summary."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.soak.soak import Soak


def main() -> int:
    """Soak, print what came of it, and return 1 when anything was lost or grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chantry-soak-") as folder:
        soak = Soak(Path(folder, "box"), options.turns, options.kills, _tell, options.seed)
        print(soak.run())
    return 1 if soak.problems else 0


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
