"""Chunks of a stream that differ in their text only: read by comparing bytes.  Pure.

A long answer is thousands of chunks, equal but for one string.  What stands around that string is
learnt from one of them; a chunk with the same bytes around another string has the same shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orjson import JSONDecodeError, dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROBE = "\x00 a text that no model sends \x00"
MAX_LESSONS = 4
"""Some servers put something new into each chunk; nothing is learnt from those."""
BETWEEN = b",\n"
"""Joins JSON texts to one list.  No string may hold a bare line end, so none can swallow it: where
the list has as many entries as texts were joined, each text is one whole value."""


class SameChunk:
    """See the module.  Of one stream."""

    def __init__(self) -> None:
        """Know no chunk."""
        self._before = self._after = b""
        self._lessons = 0

    def texts(self, datas: Sequence[bytes], at: int) -> list[str]:
        """Return the texts of the chunks from ``at`` on that are like the one learnt from.

        They end before the first one that is not; none: it is the one at ``at``.
        """
        before, after = self._before, self._after
        if not before:
            return []
        start, end = len(before), -len(after)
        shortest = start - end + 2  # with two quotes
        found: list[bytes] = []
        for index in range(at, len(datas)):
            data = datas[index]
            if not (data.startswith(before) and data.endswith(after) and len(data) >= shortest):
                break
            found.append(data[start:end])
        return self._strings(found) if found else []

    def _strings(self, found: list[bytes]) -> list[str]:
        values = _loaded(b"[" + BETWEEN.join(found) + b"]")
        if len(values) == len(found) and all(type(each) is str for each in values):
            return values
        strings: list[str] = []
        for text in found:
            values = _loaded(b"[" + text + b"]")
            if len(values) != 1 or type(values[0]) is not str:
                break
            strings += values
        if not strings:  # looking at all of them for each such chunk would take for ever
            self._before = b""
        return strings

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


def _loaded(data: bytes) -> list[Any]:
    """Return the entries of a JSON list; none, if it is none."""
    try:
        values: list[Any] = loads(data)
    except JSONDecodeError:
        return []
    return values
