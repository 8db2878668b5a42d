"""A standard stream whose reader may be slow, but not when the process is told to end."""

from __future__ import annotations

import errno
import io
import os
import select
from typing import TYPE_CHECKING, TextIO

from actors.stdio import WakePipe

if TYPE_CHECKING:
    from typing_extensions import Buffer

PIECE_BYTES = select.PIPE_BUF
"""What a pipe that is ready takes without waiting."""


class PatientOut(io.RawIOBase):
    """Writes to a descriptor as fast as it is read; any thread may `hurry` who waits there."""

    def __init__(self, fd: int) -> None:
        """Write to ``fd``, which stays open."""
        super().__init__()
        self._fd = fd
        self._patience_ms: int | None = None
        self._bell = WakePipe()
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)
        self._poll.register(self._bell.fd, select.POLLIN)

    def hurry(self, patience_ms: int | None) -> None:
        """From now on wait so long for the reader at each write, and then no more; None: ever."""
        self._patience_ms = patience_ms
        self._bell.ring()

    def writable(self) -> bool:
        """See `io.RawIOBase`."""
        return True

    def fileno(self) -> int:
        """See `io.RawIOBase`."""
        return self._fd

    def isatty(self) -> bool:
        """See `io.RawIOBase`."""
        return os.isatty(self._fd)

    def write(self, data: Buffer, /) -> int:
        """Write a piece, once there is room for it.

        Raises:
            OSError: The reader has left, or takes nothing and nobody has time to wait.

        """
        while True:
            ready = dict(self._poll.poll(self._patience_ms))
            if self._fd in ready:
                return os.write(self._fd, memoryview(data)[:PIECE_BYTES])
            if not ready:
                raise OSError(errno.ETIMEDOUT, "nobody reads it")
            self._bell.silence()


class PatientStreams:
    """Standard output and error, for people (text) or programs (bytes)."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        """Stand before the process's own streams, into which nothing was written yet."""
        self._raw = (PatientOut(out.fileno()), PatientOut(err.fileno()))
        self.out_bytes = io.BufferedWriter(self._raw[0])
        self.out, self.err = (
            io.TextIOWrapper(
                buffer, encoding=own.encoding, errors=own.errors, line_buffering=own.isatty()
            )
            for buffer, own in ((self.out_bytes, out), (io.BufferedWriter(self._raw[1]), err))
        )

    def hurry(self, patience_ms: int | None) -> None:
        """See `PatientOut.hurry`."""
        for raw in self._raw:
            raw.hurry(patience_ms)
