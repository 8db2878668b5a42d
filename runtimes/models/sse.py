"""Server-sent events: bytes in, the data of whole events out.  Pure: no I/O.

The name of an event is not handed out: every provider repeats in the data what it means.
"""

from __future__ import annotations

MAX_EVENT_BYTES = 32 * 1024 * 1024
"""A whole answer sent as one event fits; a server that never ends an event does not fill us."""


class EventTooLong(ValueError):  # noqa: N818 - a fault of the server, told as a broken stream
    """An event is longer than we keep."""


class SseSplitter:
    """Collects received bytes; holds at most the event that is arriving.

    Lines may end in LF, CRLF or CR.  Comments and other fields than ``data`` are passed over.
    """

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        """Hold at most ``limit`` bytes."""
        self._limit = limit
        self._rest = bytearray()
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._fresh = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add what one read returned, and return the data of the events that it completed.

        Raises:
            EventTooLong: See there.

        """
        if self._fresh:
            chunk = self._without_mark(chunk)
        lines = self._lines(chunk)
        events = [] if self._pieces else _plain(lines)
        for line in () if events else lines:
            if line.startswith(b"data:"):
                piece = line[6:] if line[5:6] == b" " else line[5:]
                self._pieces.append(piece)
                self._held_bytes += len(piece)
            elif not line and self._pieces:
                events.append(self._take())
        # An empty one is no event, says the standard, and blanks are no JSON: some servers stay
        # alive with them.
        if b"" in events or any(map(bytes.isspace, events)):
            events = [event for event in events if event.strip()]
        if self._held_bytes + len(self._rest) > self._limit:
            message = f"an event is longer than {self._limit} bytes"
            raise EventTooLong(message)
        return events

    def _lines(self, chunk: bytes) -> list[bytes]:
        """Return the lines that ``chunk`` ended; the rest is appended, never copied again."""
        if b"\n" not in chunk and b"\r" not in chunk and not self._rest.endswith(b"\r"):
            self._rest += chunk
            return []
        text = bytes(self._rest) + chunk if self._rest else chunk
        if b"\r" in text:
            # A CR at the very end may be the first half of a line's end.
            held = b"\r" if text.endswith(b"\r") else b""
            text = text[: len(text) - len(held)]
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *lines, rest = text.split(b"\n")
        self._rest = bytearray(rest)
        return lines

    def finish(self) -> list[bytes]:
        """Return the data of a last event that only lacks its blank line, or its line's end.

        Many servers leave it out; whether the data is whole is for its reader to judge.
        """
        events = self.feed(b"\n\n")
        self._rest.clear()
        return events

    def _take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        self._held_bytes = 0
        return pieces[0] if len(pieces) == 1 else b"\n".join(pieces)

    def _without_mark(self, chunk: bytes) -> bytes:
        """Drop a byte order mark, which may come in pieces, from the start of the stream."""
        text = bytes(self._rest) + chunk
        self._rest.clear()
        mark = b"\xef\xbb\xbf"
        if len(text) < len(mark) and mark.startswith(text):
            self._rest += text
            return b""
        self._fresh = False
        return text.removeprefix(mark)


def _plain(lines: list[bytes]) -> list[bytes]:
    """Return the data of events of one line each, as nearly all are; none, if one is not."""
    data = lines[::2]
    if len(lines) % 2 or any(lines[1::2]) or any(line[:6] != b"data: " for line in data):
        return []
    return [line[6:] for line in data]
