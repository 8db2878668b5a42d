"""Where the reader keeps a long line until its newline comes: on disk, not in memory.

A line of up to 64 MiB is legal, so its first 64 MiB must be kept before anyone can tell that it is
too long.  Past a megabyte the pieces go to a file without a name, readable by nobody else; a line
that turns out to be legal is mapped from there, one that is not has cost no memory.
"""

from __future__ import annotations

import mmap
import os

MEMORY_BYTES = 1024 * 1024
"""What is kept in memory before the disk is used."""


class SpillingStore:
    """A `protocol.framing.Store`; without a place for the file it keeps all in memory."""

    def __init__(self, memory_bytes: int = MEMORY_BYTES) -> None:
        self._memory_bytes = memory_bytes
        self._memory = bytearray()
        self._fd: int | None = None
        self._on_disk = 0
        self._disk_works = True

    def __len__(self) -> int:
        """How many bytes are kept."""
        return self._on_disk + len(self._memory)

    def append(self, piece: bytes) -> None:
        """Keep one more piece."""
        self._memory += piece
        if len(self._memory) > self._memory_bytes and self._disk_works:
            self._spill()

    def take(self) -> bytearray | memoryview:
        """Hand out all that is kept, without a copy of its own, and start anew."""
        if self._fd is not None and self._memory:
            self._spill()
        if self._fd is None:
            held, self._memory = self._memory, bytearray()
            return held
        mapped = mmap.mmap(self._fd, self._on_disk, prot=mmap.PROT_READ)
        self.drop()
        return memoryview(mapped)

    def drop(self) -> None:
        """Forget all that is kept and free the disk."""
        self._memory = bytearray()
        self._on_disk = 0
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _spill(self) -> None:
        """Move what is in memory to the file; where the disk fails, take the file back."""
        try:
            if self._fd is None:
                self._fd = _nameless_file()
            with memoryview(self._memory) as pieces:
                written = 0
                while written < len(pieces):
                    written += os.pwrite(self._fd, pieces[written:], self._on_disk + written)
            self._on_disk += written
            self._memory = bytearray()
        except OSError:
            self._disk_works = False
            self._take_back()

    def _take_back(self) -> None:
        if self._fd is None:
            return
        kept = bytearray()
        while piece := os.pread(self._fd, self._on_disk - len(kept), len(kept)):
            kept += piece
        kept += self._memory
        self.drop()
        self._memory = kept


def _nameless_file() -> int:
    """Open a file that has no name and is gone with its descriptor."""
    folder = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - a file without a name has no path to guess
    return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
