"""Durations as people write them: `90s`, `1h30m`, `500ms`.  Every character must be read."""

from __future__ import annotations

UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
"""Seconds in each unit; the order of `format_duration` comes from it too."""

MAX_DURATION_S = 366 * 86400.0
"""A year.  More is a slip of the pen, and timers have limits."""


MAX_DIGITS = 12
"""A year has 11 digits of milliseconds; int() refuses thousands of them with another message."""


def parse_duration(text: str) -> float:
    """Return the seconds that ``text`` means: integers with units, the largest unit first.

    Raises:
        ValueError: Some character was not understood, a unit is out of order, it is zero, or it
            is over a year.

    """
    seconds, rest, smallest = 0.0, text, MAX_DURATION_S
    while rest:
        digits, unit, rest = _take_part(rest, text)
        if UNITS_S[unit] >= smallest:
            msg = f"duration {text!r} has its units out of order"
            raise ValueError(msg)
        smallest = UNITS_S[unit]
        seconds += int(digits) * smallest
    if not 0 < seconds <= MAX_DURATION_S:
        msg = f"duration {text!r} is not between 1ms and 366d"
        raise ValueError(msg)
    return seconds


def format_duration(seconds: float) -> str:
    """Write ``seconds`` in the form that `parse_duration` reads, down to milliseconds."""
    left_ms = round(seconds * 1000)
    parts: list[str] = []
    for unit in ("d", "h", "m", "s", "ms"):
        count, left_ms = divmod(left_ms, round(UNITS_S[unit] * 1000))
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _take_part(rest: str, whole: str) -> tuple[str, str, str]:
    digits = rest[: _length(rest, "0123456789")]
    after = rest[len(digits) :]
    unit = after[: _length(after, "abcdefghijklmnopqrstuvwxyz")]
    if not digits or len(digits) > MAX_DIGITS or unit not in UNITS_S:
        msg = f"duration {whole!r} is not like 90s, 10m or 1h30m (units: {', '.join(UNITS_S)})"
        raise ValueError(msg)
    return digits, unit, after[len(unit) :]


def _length(text: str, allowed: str) -> int:
    return len(text) - len(text.lstrip(allowed))
