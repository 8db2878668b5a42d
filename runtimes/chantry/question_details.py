"""What an agent wants to do, as the lines that stand below its question.  Pure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from protocol.acp.updates import ToolText
from runtimes.chantry.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from protocol.acp.updates import ToolContent, ToolDiff

MAX_LINES = 24
LINES_AROUND = 2
"""Of what stays as it is, shown on each side of a change."""


def details(content: Sequence[ToolContent]) -> tuple[str, ...]:
    """Write the texts and changes of a call, the first `MAX_LINES` lines of them."""
    lines = [line for part in content for line in _lines(part)]
    left_out = len(lines) - MAX_LINES
    if left_out > 0:
        lines[MAX_LINES:] = [f"… {left_out} lines more (--json shows all)"]
    return tuple(f"  | {printable(line)}" for line in lines)


def _lines(part: ToolContent) -> Iterator[str]:
    if isinstance(part, ToolText):
        yield from _split(part.text)
    else:
        yield from _changed_lines(part)


def _changed_lines(diff: ToolDiff) -> Iterable[str]:
    import difflib

    old, new = _split(diff.old_text or ""), _split(diff.new_text)
    lines = difflib.unified_diff(old, new, n=LINES_AROUND, lineterm="")
    # The first two name the files, which the question does.
    return islice(lines, 2, None)


def _split(text: str) -> list[str]:
    """Return the lines of a text, whose last one may or may not have an end."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]
