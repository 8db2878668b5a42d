"""Text in pieces into lines, one unfinished line kept for each source.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE_CHARS = 8 * 1024
"""A longer line is shown in parts, so that output without an end of line can't fill memory."""


class LineBuffer:
    """Unfinished lines by (step id, stream)."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], str] = {}

    def feed(self, source: tuple[str, str], text: str) -> Iterator[str]:
        """Add text and hand out the lines that it completed, without their ends."""
        *lines, rest = (self._open.pop(source, "") + text).split("\n")
        while len(rest) > MAX_LINE_CHARS:
            lines.append(rest[:MAX_LINE_CHARS])
            rest = rest[MAX_LINE_CHARS:]
        if rest:
            self._open[source] = rest
        return (line.removesuffix("\r") for line in lines)

    def rest(self, step_id: str) -> list[str]:
        """Hand out what a step left unfinished."""
        sources = [source for source in self._open if source[0] == step_id]
        return [self._open.pop(source) for source in sources]
