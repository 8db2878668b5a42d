"""How a cancel ends a wait: sockets are shut down under their reader, slow work is walked out on.

Each attempt at a call has a `HangUp` of its own; a cancel that comes after its end cuts nothing.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from runtimes.models.base import Cancel

T = TypeVar("T")


class Cancelled(Exception):  # noqa: N818 - not an error: somebody wanted it
    """Nobody wants this call any more."""


class TooLong(Exception):  # noqa: N818 - says what happened
    """Work took longer than it may."""


class HangUp:
    """What a cancel has to cut: the socket of one attempt, once there is one."""

    def __init__(self, cancel: Cancel) -> None:
        """Listen to ``cancel`` from now on."""
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._over = False
        self.cancel = cancel
        cancel.on_cancel(self._cut)

    def attach(self, sock: socket.socket) -> None:
        """Let a cancel cut ``sock`` from now on.

        Raises:
            Cancelled: It has come already.

        """
        with self._lock:
            self._socket = sock
        if self.cancel.is_set():
            raise Cancelled

    def release(self) -> None:
        """Let later cancels pass: the attempt is over, others may use the socket."""
        with self._lock:
            self._over = True
            self._socket = None

    def _cut(self) -> None:
        import socket

        with self._lock:
            if self._socket is None or self._over:
                return
            try:
                # Not SSLSocket.shutdown: it takes the TLS state away from under the reader.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                return  # the other side was faster


class _Aside(Generic[T]):
    """Work on a thread of its own, and what came of it."""

    def __init__(self, work: Callable[[], T], discard: Callable[[T], None]) -> None:
        self._work = work
        self._discard = discard
        self._lock = threading.Lock()
        self._left = False
        self.changed = threading.Event()
        self.results: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        """Do the work; when nobody waits any more, throw its result away."""
        try:
            result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self.error = error
        else:
            with self._lock:
                if not self._left:
                    self.results.append(result)
            if not self.results:
                self._discard(result)
        self.changed.set()

    def leave(self) -> None:
        """Wait no longer."""
        with self._lock:
            self._left = True
        for each in self.results:
            self._discard(each)


def _keep(result: Any) -> None:
    del result


def aside(
    work: Callable[[], T],
    cancel: Cancel,
    discard: Callable[[T], None] = _keep,
    limit_s: float | None = None,
) -> T:
    """Return what ``work`` returns, from a thread of its own: name look-ups can't be interrupted.

    ``discard`` gets a result that comes too late.

    Raises:
        Cancelled: It was cancelled; ``work`` goes on alone.
        TooLong: It took more than ``limit_s``; ``work`` goes on alone.

    """
    job = _Aside(work, discard)
    threading.Thread(target=job.run, name="model network", daemon=True).start()
    cancel.on_cancel(job.changed.set)
    in_time = job.changed.wait(limit_s)
    if cancel.is_set() or not in_time:
        job.leave()
        raise Cancelled if cancel.is_set() else TooLong
    if job.error is not None:
        raise job.error
    return job.results[0]
