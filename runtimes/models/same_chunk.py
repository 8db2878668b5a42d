"""Chunks of a stream that differ in their text only: read by comparing bytes.  Pure.

A long answer is thousands of chunks, equal but for one string.  What stands around that string is
learnt from one of them; a chunk with the same bytes around another string has the same shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orjson import JSONDecodeError, dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable

PROBE = "\x00 a text that no model sends \x00"
MAX_LESSONS = 4
"""Some servers put something new into each chunk; nothing is learnt from those."""


class SameChunk:
    """See the module.  Of one stream."""

    def __init__(self) -> None:
        """Know no chunk."""
        self._before = self._after = b""
        self._lessons = 0

    def text(self, data: bytes) -> str:
        """Return the text of a chunk that is like the one learnt from; empty: it is not."""
        before, after = self._before, self._after
        if not before or not data.startswith(before) or not data.endswith(after):
            return ""
        try:
            found = loads(data[len(before) : len(data) - len(after)])
        except JSONDecodeError:
            return ""
        return found if type(found) is str else ""

    def learn(self, data: bytes, text: str, read: Callable[[bytes], str | None]) -> None:
        """Learn what stands around ``text`` in ``data``.

        ``read`` returns the text of a chunk that holds nothing else, or None: it is asked whether
        another string in that place would be the text, whatever else the chunk repeats.
        """
        if self._lessons >= MAX_LESSONS:
            return
        self._lessons += 1
        before, found, after = data.partition(dumps(text))
        if found and read(before + dumps(PROBE) + after) == PROBE:
            self._before, self._after = before, after
