"""What a step printed: bounded text for people, exact counts and a digest for records."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from actors.work import Captured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.work import OutputSource, Render, Stream

EDGE_BYTES = 256 * 1024
"""Kept of each end of a stream: enough to see how it began and how it failed."""
LIVE_LIMIT_BYTES = 64 * 1024 * 1024
"""Shown of a stream while it runs.  Nobody reads more, and a client keeps what it was sent."""

CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
"""What UTF-8 has inside a character, and never at its start."""

_decoder: Callable[..., codecs.IncrementalDecoder] = codecs.getincrementaldecoder("utf-8")


class StreamCapture:
    """Keep the head and the tail of a stream; count and digest all of it."""

    def __init__(self, edge_bytes: int = EDGE_BYTES) -> None:
        """Keep ``edge_bytes`` of each end; holds at most three times that."""
        import hashlib  # with the first step, which has other things to wait for

        self._edge = edge_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self._hash = hashlib.sha256()
        self.total_bytes = 0

    def feed(self, data: bytes) -> None:
        """Add what was read."""
        self.total_bytes += len(data)
        self._hash.update(data)
        room = self._edge - len(self._head)
        self._head += data[:room]
        self._tail += data[room:][-self._edge :]
        if len(self._tail) > 2 * self._edge:
            del self._tail[: -self._edge]

    def captured(self) -> Captured:
        """Sum up what came so far."""
        digest = self._hash.hexdigest() if self.total_bytes else ""
        return Captured(self._text(), self.total_bytes, digest)

    def _text(self) -> str:
        tail = bytes(self._tail[-self._edge :])
        if self.total_bytes == len(self._head) + len(tail):
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        head = _without_cut_end(bytes(self._head))
        tail = _without_cut_start(tail)
        left_out = self.total_bytes - len(head) - len(tail)
        note = f"\n[... {left_out} bytes left out ...]\n"
        return head.decode("utf-8", "replace") + note + tail.decode("utf-8", "replace")


class StepOutput:
    """One step's output: captured for its end, decoded and offered as it comes."""

    def __init__(
        self, source: OutputSource, render: Render, live_limit_bytes: int = LIVE_LIMIT_BYTES
    ) -> None:
        """Show at most ``live_limit_bytes`` of each stream; capture has its own bounds."""
        self._source = source
        self._render = render
        self._limit = live_limit_bytes
        self._captures: dict[Stream, StreamCapture] = {}
        self._decoders: dict[Stream, codecs.IncrementalDecoder] = {}

    def feed(self, stream: Stream, data: bytes) -> None:
        """Take what was read; may wait for a slow client, until the source is ended."""
        capture, decoder = self._parts(stream)
        room = self._limit - capture.total_bytes
        capture.feed(data)
        if room < 0:
            return  # said already
        text = decoder.decode(data[:room], final=len(data) > room)
        self._offer(stream, text if len(data) <= room else text + _limit_note(self._limit))

    def finish(self) -> None:
        """Show what a stream that ended inside a character still holds back."""
        for stream, decoder in self._decoders.items():
            if self._captures[stream].total_bytes <= self._limit:
                self._offer(stream, decoder.decode(b"", final=True))

    def captured(self, stream: Stream) -> Captured:
        """Sum up a stream."""
        capture = self._captures.get(stream)
        return capture.captured() if capture is not None else Captured()

    def _parts(self, stream: Stream) -> tuple[StreamCapture, codecs.IncrementalDecoder]:
        if stream not in self._captures:
            self._captures[stream] = StreamCapture()
            self._decoders[stream] = _decoder("replace")
        return self._captures[stream], self._decoders[stream]

    def _offer(self, stream: Stream, text: str) -> None:
        if text:
            items: Iterable[object] = self._render(stream, text)
            self._source.offer(items)


def _limit_note(limit: int) -> str:
    return f"\n[more than {limit} bytes: the rest is not shown here, its end is in the result]\n"


def _without_cut_end(data: bytes) -> bytes:
    """Leave out a character whose last bytes are missing."""
    decoder = _decoder("replace")
    decoder.decode(data)
    held, _ = decoder.getstate()
    return data[: len(data) - len(held)]


def _without_cut_start(data: bytes) -> bytes:
    """Leave out the rest of a character whose first bytes are missing (at most three)."""
    return data[:3].lstrip(CONTINUATION_BYTES) + data[3:]
