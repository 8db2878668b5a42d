"""Numbers of things as people write them.  Pure."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``, ``0 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
