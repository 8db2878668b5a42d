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
        yield from part.text.rstrip("\n").split("\n")
    else:
        yield from _changed_lines(part)


def _changed_lines(diff: ToolDiff) -> Iterable[str]:
    import difflib

    old = [] if diff.old_text is None else diff.old_text.split("\n")
    new = diff.new_text.split("\n")
    lines = difflib.unified_diff(old, new, n=LINES_AROUND, lineterm="")
    # The first two name the files, which the question does.
    return islice(lines, 2, None)
