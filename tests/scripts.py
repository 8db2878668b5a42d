"""The console scripts, as installed: the only way in."""

from __future__ import annotations

import sysconfig
from pathlib import Path


def script(name: str) -> str:
    """Return the absolute path of the console script ``name``; needs no PATH."""
    path = Path(sysconfig.get_path("scripts")) / name
    if not path.exists():
        message = f"{path} is missing: install the project first (make test does)"
        raise FileNotFoundError(message)
    return str(path)
