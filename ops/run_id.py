"""Run ids: they sort by the time of the start, and two runs never share one."""

from __future__ import annotations


def new_run_id(wall_s: float, entropy: bytes) -> str:
    """Make an id like ``20261130-101500123-9f3a2c1b`` from epoch seconds and random bytes."""
    import datetime as dt

    started = dt.datetime.fromtimestamp(wall_s, tz=dt.UTC)
    milliseconds = started.microsecond // 1000
    return f"{started:%Y%m%d-%H%M%S}{milliseconds:03d}-{entropy.hex()}"


def timestamp(wall_s: float) -> str:
    """Write epoch seconds as UTC with milliseconds: ``2026-11-30T10:15:00.123Z``."""
    import datetime as dt

    moment = dt.datetime.fromtimestamp(wall_s, tz=dt.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
