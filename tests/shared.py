"""Data that lies beside the repository and is not part of it (specifications, recordings)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""

ABSENT = "shared data is absent: "
"""How the reason of such a skip starts; `conftest` counts these at the end of a run."""


def shared_folder() -> Path:
    """Return ``CHANTRY_SHARED``, else the folder ``shared`` beside the repository."""
    return Path(os.environ.get("CHANTRY_SHARED") or ROOT.parent / "shared")


def shared_path(*parts: str) -> Path:
    """Return a file or folder of the shared data, or skip the test where it is not there."""
    path = shared_folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(ABSENT + "/".join(parts))
    return path
