"""One HTTP request of a probe: bounded in time and size, and cut off by an abort.

Redirects are not followed and no proxy is used: a check looks at exactly one server.
"""

from __future__ import annotations

import http.client
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import SplitResult, urlsplit

from ops.errors import ActivityFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Cancel(Protocol):
    """Tells when nobody waits for the answer any more."""

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once on a cancel, at once when it already happened."""
        ...


class Asking(Protocol):
    """Whoever asks: a step's context, or a look at a resource."""

    @property
    def cancel(self) -> Cancel:
        """What ends the question."""
        ...


MAX_BODY_BYTES = 1024 * 1024
"""As much of a body as is looked at; a health page that needs more is no health page."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the head of the body only."""

    status: int
    body: bytes


def split_url(url: str) -> SplitResult:
    """Return the parts of an http or https URL.

    Raises:
        ActivityFailed: It is none.

    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(letter <= " " for letter in url):
        msg = f"{url!r} is not an http or https URL"
        raise ActivityFailed(msg)
    return urlsplit(url)


def ask(question: Question, work: Asking) -> Answer | str:
    """Send the request; return its answer, or the reason why there is none."""
    from threading import Timer

    parts = split_url(question.url)
    connection = _connection(parts, question.timeout_s)
    connected: list[socket.socket] = []
    work.cancel.on_cancel(lambda: _cut(connection, connected))
    late: list[str] = []

    def give_up() -> None:
        late.append(f"no answer within {question.timeout_s:g} s")
        _cut(connection, connected)

    # The connection's own limit is for each piece, and a server may send a byte at a time.
    timer = Timer(question.timeout_s, give_up)
    timer.daemon = True
    timer.start()
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    try:
        connection.request(question.method, path, headers=dict(question.headers))
        connected.append(connection.sock)  # which it forgets where the end of the body is its own
        if late:  # it was not connected yet, so there was nothing to cut
            return late[0]
        response = connection.getresponse()
        answer = Answer(response.status, response.read(MAX_BODY_BYTES))
        return late[0] if late else answer
    except TimeoutError:
        return f"no answer within {question.timeout_s:g} s"
    except (OSError, ValueError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return late[0] if late else f"no answer: {why}"
    finally:
        timer.cancel()
        connection.close()


def _connection(parts: SplitResult, timeout_s: float) -> http.client.HTTPConnection:
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=timeout_s)


def _cut(connection: http.client.HTTPConnection, connected: Sequence[socket.socket]) -> None:
    """Wake whoever waits on the connection; closing it would not."""
    import contextlib

    # Not connected yet, or over already: then there is nobody to wake.
    with contextlib.suppress(OSError, AttributeError):
        (*connected, connection.sock)[0].shutdown(socket.SHUT_RDWR)
