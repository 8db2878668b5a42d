"""The disk that journals lie on; a simulation has one of its own.

Who writes asks the fault points itself, see `runtimes.radian.journal`.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Protocol

from ops.plain_file import plain

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

REMOVED = "it was removed"


class JournalFile(Protocol):
    """An open journal.  Every method but `close` may raise `OSError`; all but `size` may wait."""

    def lock(self) -> None:
        """Keep other processes out until it is closed.

        Raises:
            BlockingIOError: Another one has it.

        """
        ...

    def size(self) -> int:
        """Return how many bytes it has now; an error when it was removed."""
        ...

    def head(self, size: int) -> bytes:
        """Return its first ``size`` bytes."""
        ...

    def read(self) -> bytes:
        """Return all of it; called once."""
        ...

    def write(self, data: bytes) -> int:
        """Add ``data``, and return how much of it there was room for."""
        ...

    def cut(self, size: int) -> None:
        """Leave the first ``size`` bytes."""
        ...

    def force(self) -> None:
        """Make what was written last."""
        ...

    def close(self) -> None:
        """Let go of it, and of its lock."""
        ...


class JournalDisk(Protocol):
    """Opens journals.  Every method but `mutex` may wait, and raise `OSError`."""

    def open(self, path: str, *, new: bool) -> JournalFile:
        """Open a journal; ``new``: it is made if there is none."""
        ...

    def keep(self, path: str, data: bytes) -> None:
        """Write a file beside the journals."""
        ...

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; none where there is no such folder."""
        ...

    def make_folder(self, folder: str) -> None:
        """Make a folder that nobody else may look into; one that is there is no error."""
        ...

    def force_names(self, folder: str) -> None:
        """Make the names of files that were made in a folder last."""
        ...

    def mutex(self) -> AbstractContextManager[Any]:
        """Make what keeps the threads that write one journal apart."""
        ...


class OsFile:
    """A journal on the disk of this machine; see `JournalFile`."""

    def __init__(self, descriptor: int) -> None:
        """Own ``descriptor``."""
        self._descriptor = descriptor

    def lock(self) -> None:
        """See `JournalFile`; the system drops the lock with its holder."""
        import fcntl

        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def size(self) -> int:
        """See `JournalFile`."""
        now = os.fstat(self._descriptor)
        if now.st_nlink == 0:
            raise OSError(REMOVED)
        return now.st_size

    def head(self, size: int) -> bytes:
        """See `JournalFile`."""
        return os.pread(self._descriptor, size, 0)

    def read(self) -> bytes:
        """See `JournalFile`."""
        with open(self._descriptor, "rb", closefd=False) as stream:
            return stream.read()

    def write(self, data: bytes) -> int:
        """See `JournalFile`."""
        return os.write(self._descriptor, data)

    def cut(self, size: int) -> None:
        """See `JournalFile`."""
        os.ftruncate(self._descriptor, size)

    def force(self) -> None:
        """See `JournalFile`."""
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """See `JournalFile`."""
        os.close(self._descriptor)


class OsJournals:
    """The disk of this machine; see `JournalDisk`."""

    def open(self, path: str, *, new: bool) -> OsFile:
        """See `JournalDisk`; nobody else may read what is in it."""
        flags = os.O_RDWR | os.O_APPEND
        return OsFile(plain(path, flags | (os.O_CREAT if new else 0)))

    def keep(self, path: str, data: bytes) -> None:
        """See `JournalDisk`."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as stream:
            stream.write(data)

    def names(self, folder: str) -> list[str]:
        """See `JournalDisk`."""
        try:
            return os.listdir(folder)
        except FileNotFoundError:
            return []

    def make_folder(self, folder: str) -> None:
        """See `JournalDisk`."""
        os.makedirs(folder, mode=0o700, exist_ok=True)

    def force_names(self, folder: str) -> None:
        """See `JournalDisk`."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def mutex(self) -> AbstractContextManager[Any]:
        """See `JournalDisk`."""
        return threading.Lock()


THE_JOURNALS = OsJournals()
