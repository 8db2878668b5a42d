"""The files that notes and whole files are made of; a simulation has a disk of its own.

Who writes asks the fault points itself, see `ops.whole_file`.
"""

from __future__ import annotations

import contextlib
import os
from typing import IO, Protocol

from ops.plain_file import plain

UNIQUE_BYTES = 8
PRIVATE = 0o600
USUAL_MODE = 0o644


class Disk(Protocol):
    """Every method may raise `OSError`; nothing here is whole or lasting by itself."""

    def unique(self) -> str:
        """Return a word that no other file's name has."""
        ...

    def open(self, path: str, flags: int, /) -> IO[bytes]:
        """Open a file to write; ``flags`` (of `os.open`) say whether it may be there already."""
        ...

    def permit(self, stream: IO[bytes], path: str, mode: int | None, /) -> None:
        """Give what is written permission bits; None: those of the file at ``path``."""
        ...

    def force(self, stream: IO[bytes], /) -> None:
        """Make a file's content last."""
        ...

    def force_names(self, folder: str, /) -> None:
        """Make what was made, renamed and removed in a folder last."""
        ...

    def rename(self, path: str, to: str, /) -> None:
        """Put a file in the place of another, at once."""
        ...

    def remove(self, path: str, /) -> None:
        """Remove a file; one that is not there is no error."""
        ...

    def read(self, path: str, /) -> bytes | None:
        """Return a file's content, None when there is no such file."""
        ...

    def names(self, folder: str, /) -> list[str]:
        """Return the names in a folder, sorted; none where there is no such folder."""
        ...

    def make_folder(self, path: str, /) -> None:
        """Make a folder in one that is there; one that is there already is no error."""
        ...

    def make_folders(self, path: str, /) -> None:
        """Make a folder, and those that it lies in."""
        ...


class OsDisk:
    """The disk of this machine; see `Disk`."""

    def unique(self) -> str:
        """See `Disk`."""
        return os.urandom(UNIQUE_BYTES).hex()

    def open(self, path: str, flags: int, /) -> IO[bytes]:
        """See `Disk`; nobody else may read what is not finished."""
        flags |= os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.fdopen(os.open(path, flags, PRIVATE), "wb")

    def permit(self, stream: IO[bytes], path: str, mode: int | None, /) -> None:
        """See `Disk`."""
        stream.flush()
        os.fchmod(stream.fileno(), _mode(path) if mode is None else mode)

    def force(self, stream: IO[bytes], /) -> None:
        """See `Disk`."""
        stream.flush()
        os.fsync(stream.fileno())

    def force_names(self, folder: str, /) -> None:
        """See `Disk`."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, path: str, to: str, /) -> None:
        """See `Disk`."""
        os.replace(path, to)

    def remove(self, path: str, /) -> None:
        """See `Disk`."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def read(self, path: str, /) -> bytes | None:
        """See `Disk`."""
        try:
            with open(path, "rb", opener=plain) as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def names(self, folder: str, /) -> list[str]:
        """See `Disk`."""
        try:
            return sorted(os.listdir(folder))
        except FileNotFoundError:
            return []

    def make_folder(self, path: str, /) -> None:
        """See `Disk`."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)

    def make_folders(self, path: str, /) -> None:
        """See `Disk`."""
        os.makedirs(path, exist_ok=True)


THE_DISK = OsDisk()


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        # The only way to read the mask is to set it, which another thread would notice.
        return USUAL_MODE
