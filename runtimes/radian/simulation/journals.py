"""Journals on a simulated disk, with locks that end with their process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import random

    from actors.simulation.condition import SimCondition
    from actors.simulation.disk import SimDisk
    from actors.simulation.platform import SimPlatform
    from actors.simulation.served import Served

Moment: TypeAlias = Literal["writing", "forcing"]
"""Something is about to be written to a journal, or to be forced to the disk."""
LONG_S = 60.0


class Shelf:
    """What outlives servers: the disk, and which process has locked what."""

    def __init__(self, platform: SimPlatform, disk: SimDisk, numbers: random.Random) -> None:
        """Have all journals on ``disk``; ``numbers`` say how a write fails."""
        self.platform = platform
        self.disk = disk
        self.numbers = numbers
        self.locks: dict[str, SimJournal] = {}
        self.write_s = 0.0
        """What a write takes: all else goes on meanwhile."""
        self._changed = platform.condition()
        self._reached: dict[Moment, int] = {}

    def reached(self, moment: Moment) -> None:
        """Note that some write came to a moment."""
        with self._changed:
            self._reached[moment] = self._reached.get(moment, 0) + 1
            self._changed.notify_all()

    def wait_for(self, moment: Moment, times: int) -> None:
        """Wait until writes have come to a moment so many times, or for long enough."""
        until = self.platform.monotonic() + LONG_S
        with self._changed:
            while self._reached.get(moment, 0) < times:
                if self.platform.monotonic() >= until:
                    return
                self._changed.wait(1.0)

    def written(self) -> bytes:
        """Return what is in all journals."""
        return b"".join(self.disk.read(path) or b"" for path in self.locks)

    def last_turn_is_own(self) -> bool:
        """Tell whether the last turn of the journal was begun by the session itself."""
        data = self.written()
        return data.rfind(b'"origin":"wake"') > data.rfind(b'"origin":"prompt"')

    def count(self, moment: Moment) -> int:
        """Return how many have come to a moment."""
        return self._reached.get(moment, 0)


class SimJournal:
    """See `runtimes.radian.journal_disk.JournalFile`."""

    def __init__(self, shelf: Shelf, path: str, stream: Any, served: Served) -> None:
        """Be the open file ``stream`` of the process ``served``."""
        self._shelf = shelf
        self._path = path
        self._stream = stream
        self._served = served
        self._closed = False

    @property
    def held(self) -> bool:
        """Whether its process has it open still."""
        return not (self._closed or self._served.killed or self._served.code is not None)

    def lock(self) -> None:
        """See `JournalFile`."""
        holder = self._shelf.locks.get(self._path)
        if holder is not None and holder.held:
            raise BlockingIOError(self._path)
        self._shelf.locks[self._path] = self

    def size(self) -> int:
        """See `JournalFile`."""
        return len(self._stream.file.content)

    def head(self, size: int) -> bytes:
        """See `JournalFile`."""
        content: bytes = self._stream.file.content
        return content[:size]

    def read(self) -> bytes:
        """See `JournalFile`."""
        content: bytes = self._stream.file.content
        return content

    def write(self, data: bytes) -> int:
        """See `JournalFile`; where the disk is full, there may be room for some of it."""
        self._shelf.reached("writing")
        if self._shelf.write_s:
            self._shelf.platform.sleep(self._shelf.write_s)
        before = self.size()
        try:
            return int(self._stream.write(data))
        except OSError:
            if self.size() > before:
                return self.size() - before
            raise

    def cut(self, size: int) -> None:
        """See `JournalFile`."""
        self._shelf.disk.cut(self._stream, size)

    def force(self) -> None:
        """See `JournalFile`."""
        self._shelf.reached("forcing")
        self._shelf.disk.force(self._stream)

    def close(self) -> None:
        """See `JournalFile`."""
        self._closed = True


class SimJournals:
    """See `runtimes.radian.journal_disk.JournalDisk`; one process's."""

    def __init__(self, shelf: Shelf, served: Served) -> None:
        """Open what is on ``shelf`` for the process ``served``."""
        self._shelf = shelf
        self._served = served

    def open(self, path: str, *, new: bool) -> SimJournal:
        """See `JournalDisk`."""
        if not new and self._shelf.disk.read(path) is None:
            raise FileNotFoundError(path)
        return SimJournal(self._shelf, path, self._shelf.disk.open(path, 0), self._served)

    def keep(self, path: str, data: bytes) -> None:
        """See `JournalDisk`."""
        self._shelf.disk.open(path, 0).write(data)

    def names(self, folder: str) -> list[str]:
        """See `JournalDisk`."""
        return self._shelf.disk.names(folder)

    def make_folder(self, folder: str) -> None:
        """See `JournalDisk`."""

    def force_names(self, folder: str) -> None:
        """See `JournalDisk`."""
        self._shelf.disk.force_names(folder)

    def mutex(self) -> SimCondition:
        """See `JournalDisk`."""
        return self._shelf.platform.condition()
