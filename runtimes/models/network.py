"""Connections that can be cut, for httpcore2; only imported once a call is made."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpcore2

from runtimes.models.hang_up import TooLong, aside

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Generator, Iterable

    from runtimes.models.hang_up import HangUp

READ_BYTES = 64 * 1024


class Local(threading.local):
    """Whose request the pool is working on, on this thread."""

    hang_up: HangUp | None = None


class Connection(httpcore2.NetworkStream):
    """A connection; whoever reads or writes it for a request is the one who may cut it."""

    def __init__(
        self, inner: httpcore2.NetworkStream, local: Local, *, encrypted: bool = False
    ) -> None:
        """Wrap what the backend made."""
        self._inner = inner
        self._local = local
        self._encrypted = encrypted
        self.limit_s: float | None = None
        """A shorter limit than the request's, for the rest of an answer that is over."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Wait for bytes; none: the other side has closed."""
        self._attach()
        limit_s = timeout if self.limit_s is None else self.limit_s
        return self._inner.read(max_bytes, limit_s)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes."""
        self._attach()
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        """Close."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Return the same connection, encrypted."""
        hang_up = self._local.hang_up

        def encrypt() -> httpcore2.NetworkStream:
            return self._inner.start_tls(ssl_context, server_hostname, timeout)

        # While hands are shaken the socket changes owners, so there is nothing to cut.
        inner = encrypt() if hang_up is None else _aside(encrypt, hang_up, timeout)
        return Connection(inner, self._local, encrypted=True)

    def get_extra_info(self, info: str) -> Any:
        """Return what the pool asks for."""
        if info == "ssl_object" and not self._encrypted:
            return None  # the backend would have the TLS library imported to say so
        return self._inner.get_extra_info(info)

    def _attach(self) -> None:
        if self._local.hang_up is not None:
            self._local.hang_up.attach(self._inner.get_extra_info("socket"))


class Backend(httpcore2.NetworkBackend):
    """Connects aside, so that a cancel need not wait for a name server."""

    def __init__(self) -> None:
        """Work for nobody yet."""
        self._local = Local()
        self._inner = httpcore2.SyncBackend()

    @contextmanager
    def working_for(self, hang_up: HangUp) -> Generator[None]:
        """Let ``hang_up`` cut whatever this thread waits for inside."""
        self._local.hang_up = hang_up
        try:
            yield
        finally:
            self._local.hang_up = None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Look the name up and connect."""
        hang_up = self._local.hang_up

        # As bytes it is taken as it is; text would first have the IDNA codec imported (1.3 ms).
        name: Any = host.encode() if host.isascii() else host

        def connect() -> httpcore2.NetworkStream:
            return self._inner.connect_tcp(name, port, timeout, local_address, socket_options)

        if hang_up is None:
            return Connection(connect(), self._local)
        stream = _aside(connect, hang_up, timeout)
        # Notices within minutes that a peer has vanished while a connection was not used.
        sock = stream.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return Connection(stream, self._local)


def _aside(
    make: Callable[[], httpcore2.NetworkStream], hang_up: HangUp, limit_s: float | None
) -> httpcore2.NetworkStream:
    """Make a connection within ``limit_s`` as a whole.

    The library's limit is for each address of a name, and a name server has none.
    """
    try:
        return aside(make, hang_up.cancel, _close, limit_s)
    except TooLong as error:
        raise httpcore2.ConnectTimeout from error


def _close(stream: httpcore2.NetworkStream) -> None:
    stream.close()
