"""Watch a fresh release: ``soak.py URL SECONDS`` asks once a second and fails on a bad answer."""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from pathlib import Path

TIMEOUT_S = 2
LOG = Path(".box/soak.log")


def main(url: str, seconds: int) -> None:
    """Print and log one line a second; an answer that is not 200 raises, and so is a failure."""
    with LOG.open("a", encoding="utf-8") as log:
        for second in range(1, seconds + 1):
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as reply:  # noqa: S310 - our host
                health = json.load(reply)
            line = f"soak {second}/{seconds}: {health['version']} is {health['status']}"
            print(line, flush=True)
            print(line, file=log, flush=True)
            time.sleep(1)  # noqa: TID251 - it exists to take its time


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
