"""A model server on the loopback whose every byte is scripted, and what calls need beside it."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from actors.cancel import CancelSignal
from runtimes.models.base import Message, ModelRequest, Text
from runtimes.models.calling import call_model
from runtimes.models.config import ProviderConfig
from runtimes.models.registry import make_provider
from runtimes.models.retry import RetryPolicy
from runtimes.models.secrets import Secrets
from tests.fakes import FakePlatform

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Generator, Iterable, Sequence

    from runtimes.models.answer import Answer
    from runtimes.models.base import Cancel, ModelEvent, Provider
    from runtimes.models.calling import CallEvent


class Peer(Protocol):
    """What a script may do with the connection of one request."""

    def __call__(self, sock: socket.socket, server: ModelServer) -> None:
        """Answer."""
        ...


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int


@dataclass
class ModelServer:
    """Plays one script a request, the last one again and again."""

    scripts: Sequence[Peer]
    requests: list[Seen] = field(default_factory=list)
    connections: int = 0
    silent: threading.Event = field(default_factory=threading.Event)
    """Set once a script has fallen silent."""
    release: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    """Set once a silent script has seen its client go."""
    url: str = ""
    tls: ssl.SSLContext | None = None
    shaken: threading.Event = field(default_factory=threading.Event)
    """Set once a client has connected that wants TLS."""
    _listener: socket.socket | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Take connections until the listener is closed."""
        assert self._listener is not None
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(sock, number), daemon=True).start()

    def _serve(self, sock: socket.socket, number: int) -> None:
        if self.tls is not None:
            if not self.scripts:  # then nobody answers to hands that are offered
                self._ignore(sock)
                return
            try:
                sock = self.tls.wrap_socket(sock, server_side=True)
            except OSError:
                sock.close()
                return
        self._converse(sock, number)

    def _ignore(self, sock: socket.socket) -> None:
        with sock:
            sock.recv(1)
            self.shaken.set()
            while sock.recv(65536):
                pass
            self.gone.set()

    def _converse(self, sock: socket.socket, number: int) -> None:
        with sock, sock.makefile("rb") as stream:
            while True:
                try:
                    seen = _request(stream, number)
                except (OSError, ValueError):
                    return
                if seen is None:
                    return
                with self._lock:
                    at = min(len(self.requests), len(self.scripts) - 1)
                    self.requests.append(seen)
                try:
                    self.scripts[at](sock, self)
                except OSError:
                    return
                except EndOfConnection:
                    return


class EndOfConnection(Exception):  # noqa: N818 - an order
    """Close the connection after this answer."""


@contextmanager
def model_server(*scripts: Peer, tls: ssl.SSLContext | None = None) -> Generator[ModelServer]:
    """Run a server for the scripts."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = ModelServer(scripts, tls=tls)
    server._listener = listener
    scheme = "http" if tls is None else "https"
    server.url = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/v1"
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def _request(stream: Any, number: int) -> Seen | None:
    line = stream.readline().decode()
    if not line:
        return None
    headers: dict[str, str] = {}
    while (header := stream.readline().decode().strip()) != "":
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    body = stream.read(int(headers.get("content-length", "0")))
    return Seen(line.split()[1], headers, json.loads(body), number)


# --- scripts


def events(*values: Any, end: bytes = b"data: [DONE]\n\n") -> bytes:
    """Return values as server-sent events."""
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in values) + end


def typed(*values: Any) -> bytes:
    """Return values as the named events that Anthropic and the Responses API send."""
    return b"".join(
        b"event: " + each["type"].encode() + b"\ndata: " + json.dumps(each).encode() + b"\n\n"
        for each in values
    )


def stream(*pieces: bytes, end: bool = True) -> Peer:
    """Return a script that sends the pieces, each as a chunk of its own; ``end``: properly."""

    def play(sock: socket.socket, server: ModelServer) -> None:
        del server
        sock.sendall(HEAD)
        *first, last = (b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
        for chunk in first:
            sock.sendall(chunk)
        # In one go: the client waits a moment only for the end of a body whose answer is over.
        sock.sendall(last + b"0\r\n\r\n" if end else last)
        if not end:
            raise EndOfConnection

    return play


def silent_after(*pieces: bytes, head: bool = True) -> Peer:
    """Return a script that sends the pieces, then nothing until its client has gone."""

    def play(sock: socket.socket, server: ModelServer) -> None:
        if head:
            sock.sendall(HEAD)
        for piece in pieces:
            sock.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        server.silent.set()
        if sock.recv(1) == b"":
            server.gone.set()
        raise EndOfConnection

    return play


def status(code: int, body: Any, headers: Iterable[tuple[str, str]] = ()) -> Peer:
    """Return a script that answers with an error, or with a body that is no stream."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": "application/json", **dict(headers), "Content-Length": str(len(data))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())

    def play(sock: socket.socket, server: ModelServer) -> None:
        del server
        sock.sendall(f"HTTP/1.1 {code} Said\r\n{head}\r\n".encode() + data)

    return play


def hang_up(sock: socket.socket, server: ModelServer) -> None:
    """Close without a word."""
    del sock, server
    raise EndOfConnection


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chat(delta: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a chunk of chat completions."""
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


GOOD = stream(events(chat({"content": "hello"}), chat(finish="stop")))
"""A whole answer of chat completions."""


# --- calls


def config(server: ModelServer | str, **more: Any) -> ProviderConfig:
    """Return the config of a provider without a key."""
    url = server if isinstance(server, str) else server.url
    settings: dict[str, Any] = {
        "id": "local",
        "kind": "openai-compatible",
        "base_url": url,
        "credential": "none",
        **more,
    }
    return ProviderConfig(**settings)


def provider(server: ModelServer | str, **more: Any) -> Provider:
    """Return a provider without a key."""
    return make_provider(config(server, **more), Secrets({}))


def signal() -> CancelSignal:
    """Return a cancel signal on a clock that stands still."""
    return CancelSignal(FakePlatform())


REQUEST = ModelRequest("m", (Message("user", (Text("hi"),)),))


def call(
    called: Provider, request: ModelRequest = REQUEST, cancel: Cancel | None = None
) -> list[ModelEvent]:
    """Return all events of one attempt."""
    return list(called.stream(request, cancel or signal()))


class Naps:
    """A cancel token whose waits take no time, and which keeps what they should have taken."""

    def __init__(self) -> None:
        self.waits_s: list[float] = []
        self.now_s = 100.0
        self.cancel_at: int | None = None
        """The wait that is cancelled, from 1."""
        self._set = False

    def is_set(self) -> bool:
        """Tell whether it was cancelled."""
        return self._set

    def wait(self, timeout_s: float) -> bool:
        """Let the clock go on by ``timeout_s``."""
        self.waits_s.append(timeout_s)
        self.now_s += timeout_s
        self._set = self._set or len(self.waits_s) == self.cancel_at
        return self._set

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Do nothing: it is only cancelled while it is waited for."""

    def clock(self) -> float:
        """Tell the time."""
        return self.now_s


def full_call(
    called: Provider,
    request: ModelRequest = REQUEST,
    naps: Naps | None = None,
    policy: RetryPolicy | None = None,
) -> tuple[list[CallEvent], Answer]:
    """Return what was shown of a call with its retries, and the answer."""
    cancel = naps or Naps()
    *shown, answer = call_model(
        called,
        request,
        cancel,
        policy=policy or RetryPolicy(),
        clock=cancel.clock,
        chance=lambda: 1.0,
    )
    return shown, answer  # type: ignore[return-value]
