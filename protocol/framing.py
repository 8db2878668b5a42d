"""Bytes in, lines out.  Pure: it never reads by itself and never looks inside a line.

Values on the way to the handshake are named tuples: a frozen dataclass takes five times as long to
define, and `initialize` waits for every import.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from protocol.named_tuple import NamedTuple

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longest line we keep, without its newline.  Room for a prompt with a few base64 images."""

_LOOK_BYTES = 4096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line without its line end; as its store hands it out if it came in several chunks."""

    data: bytes | bytearray | memoryview


class LineTooLong(NamedTuple):
    """A line of more than ``limit`` bytes came to its end; nothing of it was kept."""

    limit: int


Data: TypeAlias = bytes | bytearray | memoryview
Frame: TypeAlias = Line | LineTooLong


class Store(Protocol):
    """Where the pieces of a line are kept until its newline comes."""

    def __len__(self) -> int:
        """How many bytes are kept."""
        ...

    def append(self, piece: bytes) -> None:
        """Keep one more piece."""
        ...

    def take(self) -> bytearray | memoryview:
        """Hand out all that is kept, without a copy, and start anew."""
        ...

    def drop(self) -> None:
        """Forget all that is kept."""
        ...


class MemoryStore:
    """Keeps a line in memory."""

    def __init__(self) -> None:
        self._held = bytearray()

    def __len__(self) -> int:
        """How many bytes are kept."""
        return len(self._held)

    def append(self, piece: bytes) -> None:
        """Keep one more piece."""
        self._held += piece

    def take(self) -> bytearray:
        """Hand out the buffer itself: a copy would double what a 60 MiB line costs."""
        held, self._held = self._held, bytearray()
        return held

    def drop(self) -> None:
        """Forget all that is kept."""
        self._held = bytearray()


class LineSplitter:
    """Collect received bytes and hand out frames.

    Holds at most ``limit`` bytes: the rest of an over-long line is dropped as it arrives.  A
    carriage return before the newline is taken away but counts; so does a byte order mark at the
    very start.  The end of input needs no call: what has no newline was never a message.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES, store: Store | None = None) -> None:
        """Start before the first byte of a stream; unfinished lines are kept in ``store``."""
        self._limit = limit
        self._held: Store = MemoryStore() if store is None else store
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
            self._held.drop()
            self._too_long = True
            return
        self._held.append(piece)

    def _complete(self, piece: bytes) -> Frame | None:
        """End the line with ``piece``; None for a blank one."""
        line: Data
        if self._held or self._too_long or len(piece) > self._limit:
            self._hold(piece)
            if self._too_long:
                self._too_long = self._at_start = False
                return LineTooLong(self._limit)
            line = self._held.take()
        else:
            line = piece
        return self._trimmed(line)

    def _trimmed(self, line: Data) -> Line | None:
        """Take off a byte order mark and a carriage return; None for a blank line."""
        if self._at_start:
            self._at_start = False
            if line[:3] == _BYTE_ORDER_MARK:
                line = _without(line, 0, 3)
        if line[-1:] == b"\r":
            line = _without(line, len(line) - 1, len(line))
        return None if _blank(line) else Line(line)


def _without(line: Data, start: int, end: int) -> Data:
    """Cut one end off, without moving the bytes of a long line."""
    if isinstance(line, bytearray):
        del line[start:end]
        return line
    return line[end:] if start == 0 else line[:start]


def _blank(line: Data) -> bool:
    """Tell whether a line is empty or only space."""
    if isinstance(line, memoryview):  # such a line is long, and hardly ever blank
        starts = range(0, len(line), _LOOK_BYTES)
        return all(bytes(line[start : start + _LOOK_BYTES]).isspace() for start in starts)
    return not line or line.isspace()
