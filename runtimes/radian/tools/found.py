"""What ripgrep found, looked at again by ourselves, on the leaf thread that reads its output.

It goes by names: where a program of the workspace puts a link in the place of a folder while it
looks, it finds what lies behind the link.  So only names and places are taken from it, and what
is told comes from files that lie where they say.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runtimes.radian.tools.base import ToolFailedError
from runtimes.radian.tools.disk import is_there, open_regular
from runtimes.radian.tools.text_edit import UTF16_MARKS
from runtimes.radian.tools.walk import MAX_SEARCHED_BYTES

if TYPE_CHECKING:
    from actors.work import Stream
    from runtimes.radian.tools.base import ToolContext

MAX_COLUMNS = 500
"""Shown of a line."""
BINARY = ": binary file matches"
"""What ripgrep says of a file that was named, in place of lines."""
LONG = " [... the rest of the line is left out]"


class Found:
    """Takes the output of ripgrep, entries that end in ``end``; keeps one more than ``limit``."""

    def __init__(self, context: ToolContext, limit: int, end: str) -> None:
        """Have heard nothing."""
        self.lines: list[str] = []
        self.lost = 0
        """Entries of files that are no longer there, or never were."""
        self._context = context
        self._limit = limit
        self._end = end
        self._rest = ""

    def hear(self, stream: Stream, text: str) -> None:
        """Take a piece of the output."""
        if stream != "stdout" or len(self.lines) > self._limit:
            return
        *entries, self._rest = (self._rest + text).split(self._end)
        for entry in entries:
            line = self._line(entry)
            if line is None:
                self.lost += 1
            else:
                self.lines.append(line)
            if len(self.lines) > self._limit:
                return

    def _line(self, entry: str) -> str | None:
        """Return what to tell of an entry, the name of a file."""
        places = self._context.places
        return places.shown(entry) if self._is_there(entry) else None

    def _is_there(self, path: str) -> bool:
        return is_there(path) and not self._context.places.hides(path)


class FoundLines(Found):
    """Entries are a file's name, NUL, and ``number:text``."""

    def __init__(self, context: ToolContext, limit: int) -> None:
        """Have heard nothing."""
        super().__init__(context, limit, "\n")
        self._path = ""
        self._read: list[bytes] = []
        """The lines of the file at that path; the entries of one file come together."""

    def _line(self, entry: str) -> str | None:
        path, named, place = entry.partition("\0")
        if not named:
            return self._remark(entry)
        number = place.partition(":")[0]
        if path != self._path:
            self._path, self._read = path, self._lines_of(path)
        if not number.isdecimal() or not 0 < int(number) <= len(self._read):
            return None
        line = self._read[int(number) - 1].removesuffix(b"\r")
        text, cut = line.decode("utf-8", "replace"), ""
        if len(line) > MAX_COLUMNS:
            text, cut = line[:MAX_COLUMNS].decode("utf-8", "ignore"), LONG
        return f"{self._context.places.shown(path)}:{number}:{text}{cut}"

    def _remark(self, entry: str) -> str | None:
        path, binary, where = entry.partition(BINARY)
        there = binary and self._is_there(path)
        return f"{self._context.places.shown(path)}{binary}{where}" if there else None

    def _lines_of(self, path: str) -> list[bytes]:
        if self._context.places.hides(path):
            return []
        try:
            fd = open_regular(path, self._context.faults)
        except (OSError, ValueError, ToolFailedError):
            return []
        with os.fdopen(fd, "rb") as stream:
            data = stream.read(MAX_SEARCHED_BYTES)
        if data.startswith(UTF16_MARKS):  # ripgrep reads it, too
            data = data.decode("utf-16", "replace").encode("utf-8", "replace")
        return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
