"""Numbers of things as people write them.  Pure."""

from __future__ import annotations


def counted(number: int, noun: str, many: str = "") -> str:
    """Return ``1 file``, ``2 files``, ``0 files``; ``many`` where an s does not make the plural."""
    return f"{number} {noun if number == 1 else many or noun + 's'}"
