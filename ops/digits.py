"""Whole numbers as people and programs write them.  Pure."""

from __future__ import annotations

MAX_DIGITS = 18
"""Nothing that is counted here has more; and of some thousands int() makes an error of its own."""


def whole_number(text: str) -> int | None:
    """Return the number, 0 or more; None where ``text`` is no plain one, or a far too long one."""
    plain = text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
    return int(text) if plain else None
