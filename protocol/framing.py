"""Bytes in, lines out.  Pure: it never reads by itself and never looks inside a line.

Values on the way to the handshake are named tuples: a frozen dataclass takes five times as long to
define, and `initialize` waits for every import.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longest line we keep, without its newline.  Room for a prompt with a few base64 images."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line without its line end; a bytearray if it came in several chunks."""

    data: bytes | bytearray


class LineTooLong(NamedTuple):
    """A line of more than ``limit`` bytes came to its end; nothing of it was kept."""

    limit: int


Frame: TypeAlias = Line | LineTooLong


class LineSplitter:
    """Collect received bytes and hand out frames.

    Holds at most ``limit`` bytes: the rest of an over-long line is dropped as it arrives.  A
    carriage return before the newline is taken away but counts; so does a byte order mark at the
    very start.  The end of input needs no call: what has no newline was never a message.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        """Start before the first byte of a stream."""
        self._limit = limit
        self._held = bytearray()
        self._too_long = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[Frame]:
        """Add what one read returned; it may end anywhere, also inside a character.

        Returns:
            The frames that ``chunk`` completed, oldest first, without blank lines.

        """
        # Only LF ends a line: str.splitlines would also cut at U+2028 and others inside a text.
        *ended, rest = chunk.split(b"\n")
        frames: list[Frame] = []
        for piece in ended:
            frame = self._complete(piece)
            if frame is not None:
                frames.append(frame)
        self._hold(rest)
        return frames

    def _hold(self, piece: bytes) -> None:
        """Keep a piece of a line whose newline has not come yet."""
        if self._too_long or not piece:
            return
        if len(self._held) + len(piece) > self._limit:
            self._held = bytearray()
            self._too_long = True
            return
        self._held += piece

    def _complete(self, piece: bytes) -> Frame | None:
        """End the line with ``piece``; None for a blank one."""
        line: bytes | bytearray
        if self._held or self._too_long or len(piece) > self._limit:
            self._hold(piece)
            if self._too_long:
                self._too_long = self._at_start = False
                return LineTooLong(self._limit)
            # The buffer itself is handed out: a copy would double what a 60 MiB line costs.
            line, self._held = self._held, bytearray()
        else:
            line = piece
        return self._trimmed(line)

    def _trimmed(self, line: bytes | bytearray) -> Line | None:
        """Take off a byte order mark and a carriage return; None for a blank line.

        Slicing copies, which is cheap for bytes (at most one chunk) and avoided for a bytearray.
        """
        if self._at_start:
            self._at_start = False
            if line.startswith(_BYTE_ORDER_MARK):
                line = _without(line, slice(0, len(_BYTE_ORDER_MARK)))
        if line.endswith(b"\r"):
            line = _without(line, slice(len(line) - 1, None))
        return None if not line or line.isspace() else Line(line)


def _without(line: bytes | bytearray, part: slice) -> bytes | bytearray:
    """Cut one end off; a bytearray is changed in place, which moves no bytes."""
    if isinstance(line, bytearray):
        del line[part]
        return line
    return line[part.stop :] if part.start == 0 and part.stop else line[: part.start]
