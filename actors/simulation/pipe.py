"""A simulated pipe: bytes with a capacity between two ends that may close."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.simulation.platform import SimPlatform


class SimPipe:
    """What one end writes the other reads.  Whoever uses it holds ``changed``."""

    def __init__(self, platform: SimPlatform, capacity: int) -> None:
        """Make an open, empty pipe that holds ``capacity`` bytes."""
        self.changed = platform.condition()
        self.data = bytearray()
        self.capacity = capacity
        self.writer_open = True
        self.reader_open = True

    @property
    def room(self) -> int:
        """Bytes that fit in now."""
        return self.capacity - len(self.data)

    def put(self, data: bytes | memoryview) -> None:
        """Add bytes that fit in."""
        self.data += data
        self.changed.notify_all()

    def take(self, size: int) -> bytes:
        """Remove up to ``size`` bytes."""
        taken = bytes(self.data[:size])
        del self.data[:size]
        self.changed.notify_all()
        return taken

    def write_all(self, data: bytes) -> bool:
        """Write as a blocking writer does; False when nobody reads any more."""
        at = 0
        while at < len(data):
            with self.changed:
                while self.reader_open and not self.room:
                    self.changed.wait()
                if not self.reader_open:
                    return False
                piece = data[at : at + self.room]
                self.put(piece)
            at += len(piece)
        return True

    def read_some(self, size: int) -> bytes:
        """Read as a blocking reader does; empty at the end."""
        with self.changed:
            while not self.data and self.writer_open and self.reader_open:
                self.changed.wait()
            return self.take(size) if self.reader_open else b""

    def close_writer(self) -> None:
        """Nothing more will be written."""
        with self.changed:
            self.writer_open = False
            self.changed.notify_all()

    def close_reader(self) -> None:
        """Nothing more will be read; what is in the pipe is lost."""
        with self.changed:
            self.reader_open = False
            self.data.clear()
            self.changed.notify_all()
