"""Judge a release: ``risk.py URL VERSION`` compares it with what is live."""

from __future__ import annotations

import json
import sys
import urllib.request

TIMEOUT_S = 2


def risk(live: str, new: str) -> str:
    """Return ``low`` for a patch, ``medium`` for a minor version, ``high`` for anything else."""
    was, will = live.split("."), new.split(".")
    if was[0] != will[0]:
        return "high"
    return "low" if was[:2] == will[:2] else "medium"


def main(url: str, new: str) -> None:
    """Print the risk; an answer that is not 200 raises, and so is a failure."""
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as reply:  # noqa: S310 - our host
        print(risk(json.load(reply)["version"], new))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
