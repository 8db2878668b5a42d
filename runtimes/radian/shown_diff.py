"""A change as a client is shown it: whole, or around what changes if it is long.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.acp.cutting import json_size, shorten_text
from protocol.acp.updates import ToolDiff

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runtimes.radian.tools.base import Diff

LINES_AROUND = 8
"""Of what stays as it is, shown on each side of a change in a long file."""


def shown_diff(diff: Diff, limit_bytes: int) -> ToolDiff:
    """Return a diff whose two texts take at most ``limit_bytes`` as JSON.

    A client shows the lines that differ; those before and after them are what can be missed.  What
    is still too long keeps its two ends, with a note between.
    """
    old, new = diff.old, diff.new
    if _size(old, new) <= limit_bytes:
        return ToolDiff(diff.path, old, new)
    if old is None:
        return ToolDiff(diff.path, None, shorten_text(new, limit_bytes - len("null")))
    old, new = _around_the_change(old, new)
    if _size(old, new) > limit_bytes:
        old, new = (shorten_text(each, limit_bytes // 2) for each in (old, new))
    return ToolDiff(diff.path, old, new)


def _size(old: str | None, new: str) -> int:
    return json_size(old) + json_size(new)


def _around_the_change(old: str, new: str) -> tuple[str, str]:
    """Drop the lines with which both begin and end, but for the last few before the change."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = _alike(zip(before, after, strict=False))
    before, after = before[start:], after[start:]
    stop = _alike(zip(reversed(before), reversed(after), strict=False))
    kept = old.splitlines(keepends=True)[max(0, start - LINES_AROUND) : start]
    drop = max(0, stop - LINES_AROUND)
    return (
        "".join([*kept, *before[: len(before) - drop]]),
        "".join([*kept, *after[: len(after) - drop]]),
    )


def _alike(pairs: Iterable[tuple[str, str]]) -> int:
    """Count the pairs until the first that differs."""
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count
