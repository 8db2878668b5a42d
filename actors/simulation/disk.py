"""A simulated disk: what was not forced to it may be gone, or half there, after a power loss.

The points' names are those of the product's own files (`ops.faults`): one plan serves both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from actors.faults import Faults

BEFORE_WRITE, BEFORE_FSYNC, BEFORE_RENAME = "file.write", "file.fsync", "file.rename"


class _File:
    """What is in a file, and how much of it is safe."""

    __slots__ = ("content", "safe")

    def __init__(self) -> None:
        self.content = b""
        self.safe = b""


class SimDisk:
    """Files by path.  It outlives servers; `lose_power` is what happens to the machine."""

    def __init__(self, faults: Faults, numbers: random.Random) -> None:
        """Make an empty disk."""
        self._faults = faults
        self._numbers = numbers
        self._names: dict[str, _File] = {}
        self._safe_names: dict[str, _File] = {}

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None when there is none."""
        file = self._names.get(path)
        return None if file is None else file.content

    def paths(self, folder: str) -> list[str]:
        """Return what is below a folder, sorted."""
        return sorted(path for path in self._names if path.startswith(f"{folder}/"))

    def write(self, path: str, data: bytes) -> None:
        """Make a file anew.

        Raises:
            OSError: The disk is full or broken; some of it may have been written.

        """
        try:
            self._faults.at(BEFORE_WRITE, path)
        except OSError:
            self._put(path, data[: self._numbers.randint(0, len(data))])
            raise
        self._put(path, data)

    def fsync(self, path: str) -> None:
        """Make a file's content safe.

        Raises:
            OSError: It could not be; nobody knows how much of it is.

        """
        self._faults.at(BEFORE_FSYNC, path)
        file = self._names[path]
        file.safe = file.content

    def rename(self, path: str, to: str) -> None:
        """Put a file in the place of another, at once."""
        self._faults.at(BEFORE_RENAME, path)
        self._names[to] = self._names.pop(path)

    def remove(self, path: str) -> None:
        """Remove a file; one that is not there is no error."""
        self._names.pop(path, None)

    def sync_names(self) -> None:
        """Make what was made, renamed and removed safe."""
        self._safe_names = dict(self._names)

    def replace(self, path: str, data: bytes) -> None:
        """Write a file so that it is there as a whole, or not at all, whatever happens.

        Raises:
            OSError: It is as it was, or the new one is not safe yet.

        """
        beside = f"{path}.new"
        self.write(beside, data)
        self.fsync(beside)
        self.rename(beside, path)
        self.sync_names()

    def lose_power(self) -> None:
        """Go back to what was safe; of what was not, any part may have come through."""
        names = dict(self._safe_names)
        for path in sorted({*self._names, *self._safe_names}):
            if self._numbers.random() < 0.5:  # noqa: PLR2004
                _set(names, path, self._names.get(path))
        for file in names.values():
            tail = file.content[len(file.safe) :] if file.content.startswith(file.safe) else b""
            file.content = file.safe + tail[: self._numbers.randint(0, len(tail))]
        self._names, self._safe_names = names, dict(names)

    def _put(self, path: str, data: bytes) -> None:
        # A new file, even where there was one: who holds the old one open keeps it.
        file = self._names[path] = _File()
        file.content = data


def _set(names: dict[str, _File], path: str, file: _File | None) -> None:
    if file is None:
        names.pop(path, None)
    else:
        names[path] = file
