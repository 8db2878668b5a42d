"""Random numbers of a world: one stream for each use, all from one seed."""

from __future__ import annotations

import random


def stream(seed: str, use: str) -> random.Random:
    """Return the stream for ``use``.  Seeded by text: the same for every PYTHONHASHSEED."""
    return random.Random(f"{seed}/{use}")  # noqa: S311 - repeatable is the point
