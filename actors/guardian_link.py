"""One guardian process, as the server sees it: a socket, and the thread that serves it.

That thread is the reaper: it waits for the guardian's words and for nothing else, so no slow
client or full mailbox can delay the news that a step is over.
"""

from __future__ import annotations

import array
import os
import select
import signal
import socket
from collections import deque
from errno import EAGAIN
from typing import TYPE_CHECKING, TypeAlias

from actors import orphans
from actors.bell import Bell
from actors.faults import WITH_ERROR, point
from actors.logs import log
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.faults import Faults
    from actors.platform import Platform

AT_SEND = point("guardian.send", "a request is about to be sent to the guardian", WITH_ERROR)
AT_WAIT = point("guardian.wait", "the reaper is about to wait for the guardian")
AT_HEAR = point("guardian.hear", "the reaper is about to read what the guardian said", WITH_ERROR)
AT_REPORT = point(
    "step.report",
    "the reaper has read that a step failed to start, exited or is gone; who: which of them",
)

READ_BYTES = 65536
LAST_WORDS = frozenset({"fork", "chdir", "exec", "gone", "lost"})
"""After one of these nothing more is said about a step."""


@frozen
class Report:
    """What the guardian said about a step; see `actors.guardian_main` for words and numbers."""

    what: str
    number: int


Listener: TypeAlias = "Callable[[Report], bool]"
"""Called on the reaper's thread, must not wait; False: it needs to hear no more."""


class LinkClosed(Exception):  # noqa: N818 - an ordinary end: the caller starts another guardian
    """The guardian is gone, or going."""


class GuardianLink:
    """Sends requests and hands out reports until the guardian is gone."""

    def __init__(
        self, pid: int, control: socket.socket, platform: Platform, faults: Faults
    ) -> None:
        """Take over both: the process ``pid`` (our child) and its socket.

        Raises:
            OSError: There is no descriptor or no thread for it; both are still the caller's.

        """
        self.pid = pid
        self._platform = platform
        self._control = control
        self._faults = faults
        self._control.settimeout(0.0)
        self._lock = platform.condition()
        self._bell = Bell(platform)
        self._outgoing: deque[tuple[bytes, tuple[int, ...]]] = deque()
        self._listeners: dict[int, Listener] = {}
        self._last_token = 0
        self._hanging_up = False
        self._closed = False
        self._partial = b""
        try:
            self._task = platform.spawn("step-reaper", self._run)
        except RuntimeError as error:
            self._bell.close()
            raise OSError(EAGAIN, str(error)) from error

    @property
    def closed(self) -> bool:
        """Tell whether nothing can be started through it any more."""
        with self._lock:
            return self._closed or self._hanging_up

    def spawn(
        self,
        fields: list[bytes],
        descriptors: tuple[int, ...],
        listener: Listener,
        *,
        talks: bool = False,
    ) -> int:
        """Ask for a step; return its token.  Takes over the descriptors, which it closes.

        They become its stdout, stderr and perhaps descriptor 3; of one that ``talks`` its stdin
        and then these.  ``fields``: folder, number of arguments, arguments, environment.
        Never waits.

        Raises:
            LinkClosed: Nothing was asked; the descriptors are still the caller's.

        """
        with self._lock:
            if self._closed or self._hanging_up:
                message = "the guardian just ended"
                raise LinkClosed(message)
            self._last_token += 1
            token = self._last_token
            self._listeners[token] = listener
            numbers = (b"%d" % token, b"%d" % len(descriptors))
            verb = b"talk" if talks else b"spawn"
            self._outgoing.append((_frame(verb, *numbers, *fields), descriptors))
        self._bell.ring()
        return token

    def signal(self, token: int, verb: bytes) -> None:
        """Ask to ``term`` or ``kill`` a step.  Never waits; a step that is gone is passed over.

        After a hang-up there is nobody to ask, and all are being killed.
        """
        with self._lock:
            if not self._closed and not self._hanging_up:
                self._outgoing.append((_frame(verb, b"%d" % token), ()))
        self._bell.ring()

    def hang_up(self) -> None:
        """End the connection: the guardian kills what is left and exits.  Never waits."""
        with self._lock:
            self._hanging_up = True
        self._bell.ring()

    def wait_end(self, timeout_s: float) -> None:
        """Wait for the guardian's end; at ``timeout_s`` kill it, and its wardens kill the rest."""
        self._task.join(timeout_s)
        with self._lock:
            if not self._closed:  # not reaped before that: the pid is still its own
                os.kill(self.pid, signal.SIGKILL)
        self._task.join(timeout_s)

    def _run(self) -> None:
        try:
            # Here, where nobody waits for it: the guardian needs longer to be ready.
            orphans.take_in()
            while self._step():
                pass
        except Exception as error:  # noqa: BLE001 - whatever it was, the steps must hear of it
            log().opt(exception=error).error("the connection to the guardian failed")
        self._abandon()

    def _step(self) -> bool:
        """Wait once, read and write once; False at the end."""
        self._faults.at(AT_WAIT)
        poll = select.poll()
        poll.register(self._bell.fd, select.POLLIN)
        wanted = select.POLLIN | (select.POLLOUT if self._outgoing else 0)
        poll.register(self._control.fileno(), wanted)
        ready = dict(poll.poll())
        if self._bell.fd in ready:
            self._bell.silence()
        if self._outgoing:
            self._send()
        if self._hanging_up and not self._outgoing:
            # Not only when nothing was sent: one ring of the bell may stand for both.
            self._shut()
        if ready.get(self._control.fileno(), 0) & ~select.POLLOUT:
            return self._receive()
        return True

    def _send(self) -> None:
        """Send what the socket takes of the oldest frame; descriptors go with the first byte."""
        self._faults.at(AT_SEND)
        with self._lock:
            data, descriptors = self._outgoing.popleft()
        packed = array.array("i", descriptors)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)] if descriptors else []
        try:
            sent = self._control.sendmsg([data], rights)
        except BlockingIOError:
            self._outgoing.appendleft((data, descriptors))
            return
        except (BrokenPipeError, ConnectionResetError):
            _close(descriptors)
            return  # the guardian just ended; the next read says so
        _close(descriptors)
        if sent < len(data):
            self._outgoing.appendleft((data[sent:], ()))

    def _shut(self) -> None:
        try:
            self._control.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the guardian was faster; the next read says so

    def _receive(self) -> bool:
        self._faults.at(AT_HEAR)
        try:
            data = self._control.recv(READ_BYTES)
        except ConnectionResetError:
            return False
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            token, what, number = line.split()
            self._deliver(int(token), Report(what.decode("ascii"), int(number)))
        return bool(data)

    def _deliver(self, token: int, report: Report) -> None:
        self._faults.at(AT_REPORT, report.what)
        with self._lock:
            listener = self._listeners.get(token)
        if listener is None:
            return
        if not listener(report) or report.what in LAST_WORDS:
            with self._lock:
                self._listeners.pop(token, None)

    def _abandon(self) -> None:
        """Reap the guardian and what it left, then tell every step that it is lost."""
        self._control.close()  # a living guardian takes this as its end
        if self._reap() != 0:
            self._end_orphans()
        self._bell.close()
        for _, descriptors in self._outgoing:
            _close(descriptors)
        for listener in self._listeners.values():
            listener(Report("lost", 0))
        self._listeners.clear()

    def _reap(self) -> int | None:
        """Collect the wait status; nothing is sent or signalled from then on.

        0: it left nothing behind.  None: nobody knows, somebody reaps all our children.
        """
        try:
            # Wait without reaping first: `wait_end` must not see a pid that is free again.
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            with self._lock:
                self._closed = True
                return os.waitpid(self.pid, 0)[1]
        except ChildProcessError:
            with self._lock:
                self._closed = True
            return None
        finally:
            orphans.forget_guardian(self.pid)

    def _end_orphans(self) -> None:
        """Kill what is left of the steps; they are told in any case."""
        try:
            if not orphans.end_orphans(self._platform):
                log().error("killed, yet not gone: what a dead guardian left behind")
        except Exception as error:  # noqa: BLE001 - the steps must hear of their end
            log().opt(exception=error).error("looking for what a dead guardian left failed")


def _frame(*fields: bytes) -> bytes:
    body = b"\0".join(fields)
    return len(body).to_bytes(4, "big") + body


def _close(descriptors: tuple[int, ...]) -> None:
    for fd in descriptors:
        os.close(fd)
