"""A simulated disk: what was not forced to it may be gone, or half there, after a power loss.

The points' names are those of the product's own files (`ops.faults`): one plan serves both.  Real
code writes through the methods that `ops.disk.Disk` asks for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from types import TracebackType

    from actors.faults import Faults
    from actors.simulation.scheduler import Scheduler

BEFORE_WRITE, BEFORE_FSYNC, BEFORE_RENAME = "file.write", "file.fsync", "file.rename"


class _File:
    """What is in a file, and how much of it is safe."""

    __slots__ = ("content", "safe")

    def __init__(self) -> None:
        self.content = b""
        self.safe = b""


class SimStream:
    """An open file, as `open` returns one for writing; nothing is buffered."""

    def __init__(self, disk: SimDisk, path: str, file: _File) -> None:
        """Write to ``file``, wherever it is renamed to."""
        self._disk = disk
        self.path = path
        self.file = file

    def __enter__(self) -> Self:
        """Use it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it, which makes nothing safe."""

    def write(self, data: bytes) -> int:
        """Add to the file.

        Raises:
            OSError: The disk is full or broken; some of it may have been written.

        """
        self._disk.append(self, data)
        return len(data)


class SimDisk:
    """Files by path.  It outlives servers; `lose_power` is what happens to the machine."""

    def __init__(self, scheduler: Scheduler, faults: Faults, numbers: random.Random) -> None:
        """Make an empty disk."""
        self._point = scheduler.point
        self._faults = faults
        self._numbers = numbers
        self._names: dict[str, _File] = {}
        self._safe_names: dict[str, _File] = {}
        self._made = 0
        self.opened: Callable[[], None] = _nothing
        """Called whenever something is about to be written."""

    # --- what reads

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None when there is none."""
        file = self._names.get(path)
        return None if file is None else file.content

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted."""
        return sorted(
            path.removeprefix(f"{folder}/") for path in self._names if path.startswith(f"{folder}/")
        )

    # --- what writes.  Each comes to a scheduling point first: a process may be killed there, and
    # whoever is unwound then changes nothing any more.

    def unique(self) -> str:
        """Name a file that is like no other."""
        self._made += 1
        return str(self._made)

    def open(self, path: str, flags: int) -> Any:
        """Make a file, or with O_TRUNC empty the one that is there.

        Raises:
            FileExistsError: It may not be there.

        """
        self._point()
        file = self._names.get(path)
        if file is None:
            # What was removed stays as it was for who has it open, and on the disk for a while.
            file = self._names[path] = _File()
        elif flags & os.O_EXCL:
            raise FileExistsError(path)
        elif flags & os.O_TRUNC:
            file.content = b""
        self.opened()
        return SimStream(self, path, file)

    def append(self, stream: SimStream, data: bytes) -> None:
        """Write what a stream was given; see `SimStream.write`."""
        try:
            self._faults.at(BEFORE_WRITE, stream.path)
        except OSError:
            stream.file.content += data[: self._numbers.randint(0, len(data))]
            raise
        stream.file.content += data

    def permit(self, stream: Any, path: str, mode: int | None) -> None:
        """Everybody may read and write everything here."""

    def force(self, stream: Any) -> None:
        """Make a file's content safe.

        Raises:
            OSError: It could not be; nobody knows how much of it is.

        """
        self._faults.at(BEFORE_FSYNC, stream.path)
        stream.file.safe = stream.file.content

    def cut(self, stream: Any, size: int) -> None:
        """Leave the first ``size`` bytes of a file."""
        self._point()
        file = stream.file
        file.content, file.safe = file.content[:size], file.safe[:size]

    def force_names(self, folder: str) -> None:
        """Make what was made, renamed and removed safe, in all folders at once."""
        del folder
        self._safe_names = dict(self._names)

    def rename(self, path: str, to: str) -> None:
        """Put a file in the place of another, at once."""
        self._faults.at(BEFORE_RENAME, path)
        self._names[to] = self._names.pop(path)

    def remove(self, path: str) -> None:
        """Remove a file; one that is not there is no error."""
        self._point()
        self._names.pop(path, None)

    def make_folder(self, path: str) -> None:
        """A folder is there as soon as something is in it."""

    def make_folders(self, path: str) -> None:
        """See `make_folder`."""

    def replace(self, path: str, data: bytes) -> None:
        """Write a file as git does: it is there as a whole, or not at all, whatever happens.

        Raises:
            OSError: It is as it was, or the new one is not safe yet.

        """
        beside = f"{path}.{self.unique()}"
        stream = self.open(beside, os.O_EXCL)
        stream.write(data)
        self.force(stream)
        self.rename(beside, path)
        self.force_names("")

    # --- what happens to it

    def lose_power(self) -> None:
        """Go back to what was safe; of what was not, any part may have come through."""
        names = dict(self._safe_names)
        for path in sorted({*self._names, *self._safe_names}):
            if self._numbers.random() < 0.5:  # noqa: PLR2004
                _set(names, path, self._names.get(path))
        for file in names.values():
            file.content = self._left_of(file)
        self._names, self._safe_names = names, dict(names)

    def _left_of(self, file: _File) -> bytes:
        """Return what is in a file afterwards; one that was changed in place may be either."""
        added = file.content.startswith(file.safe)
        if not added and self._numbers.random() < 0.5:  # noqa: PLR2004
            return file.safe
        kept, new = (file.safe, file.content[len(file.safe) :]) if added else (b"", file.content)
        return kept + new[: self._numbers.randint(0, len(new))]


def _nothing() -> None:
    """Nobody looks."""


def _set(names: dict[str, _File], path: str, file: _File | None) -> None:
    if file is None:
        names.pop(path, None)
    else:
        names[path] = file
