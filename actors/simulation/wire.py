"""The server's two ends of the simulated connection; see `actors.wire` for what they promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.stdio import BEFORE_READ, BEFORE_WRITE, READ_BYTES, ClientGone, End, Woken

if TYPE_CHECKING:
    import random

    from actors.faults import Faults
    from actors.simulation.book import Book
    from actors.simulation.pipe import SimPipe

PARTLY = 0.2
"""How often a read or write does less than it could."""


class SimSource:
    """See `actors.wire.ByteSource`."""

    def __init__(self, pipe: SimPipe, faults: Faults, numbers: random.Random) -> None:
        """Read from ``pipe``."""
        self._pipe = pipe
        self._faults = faults
        self._numbers = numbers
        self._woken = False

    def wake(self) -> None:
        """End a wait in `read`, this or the next one."""
        with self._pipe.changed:
            self._woken = True
            self._pipe.changed.notify_all()

    def read(self, *, only_end: bool) -> bytes | End | Woken:
        """See `actors.wire.ByteSource.read`."""
        self._faults.at(BEFORE_READ)
        pipe = self._pipe
        with pipe.changed:
            while True:
                if self._woken:
                    self._woken = False
                    return Woken()
                if not pipe.writer_open and (only_end or not pipe.data):
                    return End()
                if pipe.data and not only_end:
                    return pipe.take(_some(self._numbers, min(len(pipe.data), READ_BYTES)))
                pipe.changed.wait()


class SimSink:
    """See `actors.wire.ByteSink`."""

    def __init__(self, pipe: SimPipe, faults: Faults, numbers: random.Random, book: Book) -> None:
        """Write to ``pipe`` and note in ``book`` what left."""
        self._pipe = pipe
        self._faults = faults
        self._numbers = numbers
        self._book = book
        self._woken = False

    def wake(self) -> None:
        """End a wait in `write`, this or the next one."""
        with self._pipe.changed:
            self._woken = True
            self._pipe.changed.notify_all()

    def write(self, data: memoryview) -> int:
        """See `actors.wire.ByteSink.write`."""
        self._faults.at(BEFORE_WRITE)
        pipe = self._pipe
        with pipe.changed:
            while True:
                if not pipe.reader_open:
                    message = "Broken pipe"
                    raise ClientGone(message)
                if pipe.room:
                    piece = data[: _some(self._numbers, min(pipe.room, len(data)))]
                    self._book.left(bytes(piece))
                    pipe.put(piece)
                    return len(piece)
                if self._woken:
                    self._woken = False
                    return 0
                pipe.changed.wait()


def _some(numbers: random.Random, most: int) -> int:
    """Return ``most``, or sometimes less."""
    return numbers.randint(1, most) if most > 1 and numbers.random() < PARTLY else most
