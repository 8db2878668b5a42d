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

    def __init__(self, fd: int, bell: WakePipe | None = None, *, lossy: bool = False) -> None:
        """Write to ``fd``, which stays open; ``lossy``: what can't be written is just lost."""
        super().__init__()
        self._fd = fd
        self._lossy = lossy
        self._patience_ms: int | None = None
        self._bell = bell or WakePipe()
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
        try:
            return self._write(data)
        except OSError:
            if self._lossy:
                return memoryview(data).nbytes
            raise

    def _write(self, data: Buffer) -> int:
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
        self._bell = WakePipe()
        self._raw = (
            PatientOut(out.fileno(), self._bell),
            PatientOut(err.fileno(), self._bell, lossy=True),
        )
        self.out_bytes = io.BufferedWriter(self._raw[0])
        self.out = _text(self.out_bytes, out, by_line=bool(out.line_buffering))
        self.err = _text(io.BufferedWriter(self._raw[1]), err, by_line=True)

    def hurry(self, patience_ms: int | None) -> None:
        """See `PatientOut.hurry`; one thread writes to both at a time."""
        for raw in self._raw:
            raw.hurry(patience_ms)

    @property
    def ring_fd(self) -> int:
        """A byte here ends a wait, so that a signal's handler can run; see `actors.notes`."""
        return self._bell.ring_fd


def lossy(err: TextIO) -> TextIO:
    """Return what stands for standard error: a full disk below it must not end the work."""
    return _text(io.BufferedWriter(PatientOut(err.fileno(), lossy=True)), err, by_line=True)


def _text(buffer: io.BufferedWriter[PatientOut], like: TextIO, *, by_line: bool) -> TextIO:
    # Not as `like` does it for errors: unbuffered (PYTHONUNBUFFERED) does not say by line.
    return io.TextIOWrapper(
        buffer, encoding=like.encoding, errors=like.errors, line_buffering=by_line
    )
