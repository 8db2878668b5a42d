"""The process's stdin and stdout as the protocol's alone, and how to wait on them.

Both waits also listen to a wake pipe, so that a control message ends them at once.
"""

from __future__ import annotations

import os
import select
import stat

from actors.faults import WITH_ERROR, Faults, point
from protocol.named_tuple import NamedTuple

LAST_STDIO = 2
READ_BYTES = 65_536
"""What one read may return: the size of a pipe's buffer."""

BEFORE_READ = point("wire.read", "the reader is about to wait for input", WITH_ERROR)
BEFORE_WRITE = point("wire.write", "the writer is about to write bytes to the client", WITH_ERROR)


class End(NamedTuple):
    """The client will send nothing more."""


class Woken(NamedTuple):
    """Somebody ended the wait; nothing was read."""


class ClientGone(Exception):  # noqa: N818 - an ordinary end of a connection
    """Nobody reads what we write, or the output can't take any more (``strerror`` says)."""


class WakePipe:
    """Ends a poll from another thread or a signal handler."""

    def __init__(self) -> None:
        """Open the pipe; neither end blocks, and no child inherits it."""
        self.fd, self.ring_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def ring(self) -> None:
        """Wake the poll.  A full pipe has woken it already."""
        try:
            os.write(self.ring_fd, b"!")
        except BlockingIOError:
            return

    def silence(self) -> None:
        """Take all rings."""
        try:
            while os.read(self.fd, 4096):
                pass
        except BlockingIOError:
            return


class Source:
    """Where requests come from."""

    def __init__(self, fd: int, faults: Faults) -> None:
        """Read from ``fd``, which nobody else reads."""
        self._fd = fd
        self._faults = faults
        self._bell = WakePipe()
        self._poll = select.poll()
        self._poll.register(self._bell.fd, select.POLLIN)

    def wake(self) -> None:
        """End a wait in `read`, this or the next one."""
        self._bell.ring()

    def read(self, *, only_end: bool) -> bytes | End | Woken:
        """Wait for bytes, the end of input, or a wake.

        With ``only_end`` nothing is read: the wait ends with the input or a wake.  A pipe whose
        writer closed says so even while unread bytes are in it.
        """
        try:
            self._faults.at(BEFORE_READ)
            return self._read(only_end=only_end)
        except BlockingIOError:  # the client made it non-blocking, and somebody else was faster
            return Woken()
        except OSError:
            return End()

    def _read(self, *, only_end: bool) -> bytes | End | Woken:
        hung_up = select.POLLHUP | select.POLLERR | select.POLLNVAL | select.POLLRDHUP
        # RDHUP is how a socket tells; a pipe tells by HUP, asked for or not.
        self._poll.register(self._fd, select.POLLRDHUP if only_end else select.POLLIN)
        ready = dict(self._poll.poll())
        if self._bell.fd in ready:
            self._bell.silence()
            return Woken()
        if only_end:
            return End() if ready.get(self._fd, 0) & hung_up else Woken()
        return os.read(self._fd, READ_BYTES) or End()


class Sink:
    """Where answers go; writing never gets stuck in the kernel."""

    def __init__(self, fd: int, faults: Faults) -> None:
        """Write to ``fd``, which nobody else writes to."""
        self._fd = _own_description(fd)
        self._faults = faults
        self._bell = WakePipe()
        self._poll = select.poll()
        self._poll.register(self._bell.fd, select.POLLIN)
        self._poll.register(self._fd, select.POLLOUT)

    def wake(self) -> None:
        """End a wait in `write`, this or the next one."""
        self._bell.ring()

    def write(self, data: memoryview) -> int:
        """Write some of ``data`` and return how many bytes; 0 when woken while waiting.

        Raises:
            ClientGone: Nobody reads any more, or the output failed for good.

        """
        while True:
            try:
                self._faults.at(BEFORE_WRITE)
                return os.write(self._fd, data)
            except BlockingIOError:
                if self._woken():
                    return 0
            except OSError as error:
                raise ClientGone(error.strerror or "write failed") from error

    def _woken(self) -> bool:
        ready = dict(self._poll.poll())
        if self._bell.fd not in ready:
            return False
        self._bell.silence()
        return True


def take_stdio() -> tuple[int, int]:
    """Move stdin and stdout to private descriptors and return them.

    Descriptor 0 becomes the null device and 1 becomes stderr, so neither a stray print, nor a
    library, nor a child that inherits them can reach the protocol (F03).
    """
    hold_stdio()
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    wire_in, wire_out = os.dup(0), os.dup(1)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return wire_in, wire_out


def hold_stdio() -> None:
    """Put the null device where stdin, stdout or stderr is closed.

    Must come before anything is opened to stay: the kernel gives out the lowest free number, and
    a pipe of our own that became descriptor 0 would be read as if the client were behind it.
    """
    while (fd := os.open(os.devnull, os.O_RDWR)) <= LAST_STDIO:
        os.set_inheritable(fd, True)  # noqa: FBT003 - positional only
    os.close(fd)


def _own_description(fd: int) -> int:
    """Make writes to ``fd`` non-blocking without switching anybody else's end.

    The flag belongs to the open file description, which the client may share: a pipe or terminal is
    opened once more instead.  A file never blocks; opened anew it would lose its position.
    """
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        try:
            return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return fd
    if stat.S_ISSOCK(mode):
        # A socket can't be opened by name; its other end is a description of its own.
        os.set_blocking(fd, False)
    return fd
