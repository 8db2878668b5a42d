"""One request, and its answer as it arrives.  Waits end by the answer, a time limit or a cancel.

httpcore2 (the engine of httpx2) and the TLS library are imported with the first call, on the
thread that makes it, or by `HttpClient.warm_up`.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from protocol.named_tuple import NamedTuple
from runtimes.models.hang_up import Cancelled, HangUp, aside
from runtimes.models.http_engine import load_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runtimes.models.base import Cancel

CONNECT_TIMEOUT_S = 20.0
KEEP_IDLE_S = 30.0
"""Longer, and a firewall on the way may have forgotten the connection without telling us."""
KEEP_CONNECTIONS = 4
REST_S = 0.1
"""How long the rest of an answer that is over may take, before we give the connection up."""
MAX_BODY_BYTES = 256 * 1024
"""Of an answer that is no stream: errors, and pages of proxies."""
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables of the environment that say where they are, the first one first."""
PROXIES = ("http", "https", "socks5", "socks5h")


class NoAnswer(Exception):  # noqa: N818 - an outcome of a call
    """The answer did not come, or broke off; the message is for people.

    ``retry``: calling again may help.
    """

    def __init__(self, message: str, *, retry: bool) -> None:
        """Keep both."""
        super().__init__(message)
        self.retry = retry


class Target(NamedTuple):
    """Where to, and what with."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    silence_s: float
    """How long nothing may come before we give up."""
    method: str = "POST"


class Reply:
    """An answer whose body is still to come."""

    def __init__(self, response: Any, target: Target, hang_up: HangUp) -> None:
        """Take a response of httpcore2 to the call of ``target``."""
        self.status: int = response.status
        self.headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.headers
        }
        """Names in lower case."""
        self._stream = response.extensions["network_stream"]
        self._chunks = self._told(response, target, hang_up)

    @property
    def encoding(self) -> str:
        """How the body is compressed, in spite of what was asked for; empty: it is not."""
        name = self.headers.get("content-encoding", "").strip().lower()[:40]
        return "" if name == "identity" else name

    def chunks(self) -> Iterator[bytes]:
        """Yield what arrives; asked again, go on where it was left.

        Raises:
            NoAnswer: It broke off.
            Cancelled: See there.

        """
        return self._chunks

    def body(self) -> bytes:
        """Read a short answer to its end; as much as came of it, if it breaks off."""
        data = bytearray()
        try:
            for chunk in self._chunks:
                data += chunk
                if len(data) >= MAX_BODY_BYTES:
                    break
        except NoAnswer:
            pass  # the status has arrived, and says more than a broken body
        return bytes(data[:MAX_BODY_BYTES])

    def finish(self) -> None:
        """Read what little is left after the end of an answer, so that the connection lives on."""
        self._stream.limit_s = REST_S
        self.body()
        self._stream.limit_s = None

    @staticmethod
    def _told(response: Any, target: Target, hang_up: HangUp) -> Iterator[bytes]:
        with _told_as(target, hang_up):
            yield from response.iter_stream()


class HttpClient:
    """Keeps a provider's connections.  Safe to use from several threads."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Open nothing yet; ``environ`` may name proxies."""
        self._environ = environ
        self._lock = threading.Lock()
        self._pools: dict[str, tuple[Any, Any]] = {}
        # A provider that was only needed once leaves no connection behind.
        weakref.finalize(self, _close_all, self._pools)

    def post(self, target: Target, cancel: Cancel) -> _Open:
        """Return a context that sends the request and gives its `Reply`."""
        return _Open(self, target, HangUp(cancel))

    def pool(self, url: str, cancel: Cancel) -> tuple[Any, Any]:
        """Return (pool, backend) for an address; makes them with the first call."""
        made = self._pools.get(_origin(url))
        # Reading the library and the certificates takes a while, which a cancel need not wait for.
        return made if made is not None else aside(lambda: self._made(url), cancel)

    def warm_up(self, url: str) -> None:
        """Do what the first call to ``url`` would wait for: some 25 ms, and 100 ms more for TLS."""
        self._made(url)

    def _made(self, url: str) -> tuple[Any, Any]:
        with self._lock:
            if _origin(url) not in self._pools:
                self._pools[_origin(url)] = self._new_pool(url)
            return self._pools[_origin(url)]

    def _new_pool(self, url: str) -> tuple[Any, Any]:
        load_engine()
        from runtimes.models.network import Backend
        from runtimes.models.proxies import proxy_for

        proxy, backend = proxy_for(url, self._environ), Backend()
        settings: dict[str, Any] = {
            # Without TLS there is no need to read all the certificates of the machine.
            "ssl_context": _certificates() if url[:6].lower() == "https:" else None,
            "max_connections": None,
            "max_keepalive_connections": KEEP_CONNECTIONS,
            "keepalive_expiry": KEEP_IDLE_S,
            "network_backend": backend,
        }
        return _pool(proxy, settings), backend


class _Open:
    """One request, from its sending to the end of its answer."""

    def __init__(self, client: HttpClient, target: Target, hang_up: HangUp) -> None:
        self._client = client
        self._target = target
        self._hang_up = hang_up
        self._response: Any = None

    def __enter__(self) -> Reply:
        target, hang_up = self._target, self._hang_up
        pool, backend = self._client.pool(target.url, hang_up.cancel)
        import httpcore2

        limits = {"connect": CONNECT_TIMEOUT_S, "write": target.silence_s, "read": target.silence_s}
        with _told_as(target, hang_up), backend.working_for(hang_up):
            if hang_up.cancel.is_set():
                raise Cancelled
            request = httpcore2.Request(
                target.method,
                target.url,
                headers=_headers(target),
                content=target.body,
                extensions={"timeout": limits},
            )
            self._response = pool.handle_request(request)
        return Reply(self._response, target, hang_up)

    def __exit__(self, *_: object) -> None:
        self._hang_up.release()
        if self._response is not None:
            self._response.close()


class _told_as:  # noqa: N801 - reads as a word of its `with`
    """Turns what httpcore2 raises into `NoAnswer`, or `Cancelled` if that is why."""

    def __init__(self, target: Target, hang_up: HangUp) -> None:
        self._target = target
        self._hang_up = hang_up

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, GeneratorExit | Cancelled):
            return
        if self._hang_up.cancel.is_set():
            raise Cancelled from error
        import httpcore2

        from runtimes.models.system_words import system_words

        said, retry = system_words(error), True
        match error:
            case httpcore2.ConnectTimeout():
                message = (
                    f"no connection to {_origin(self._target.url)} within {CONNECT_TIMEOUT_S:g} s"
                )
            case httpcore2.TimeoutException():
                message = f"nothing came for {self._target.silence_s:g} s"
            case httpcore2.UnsupportedProtocol() | httpcore2.LocalProtocolError():
                message, retry = f"the request can't be sent: {said}", False
            case httpcore2.ConnectError() if "CERTIFICATE_VERIFY_FAILED" in str(error):
                message, retry = f"its certificate is not trusted: {said}", False
            case httpcore2.ConnectError():
                message = f"no connection to {_origin(self._target.url)}: {said}"
            case httpcore2.ProxyError():
                message = f"the proxy refused: {said}"
            case httpcore2.NetworkError() | httpcore2.ProtocolError():
                message = f"the connection broke: {said}"
            case _:
                return
        raise NoAnswer(message, retry=retry) from error


def _certificates() -> Any:
    import httpcore2

    try:
        return httpcore2.default_ssl_context()
    except OSError as error:
        given = [name for name in CERTIFICATES if os.environ.get(name)]
        where = f"{given[0]}={os.environ[given[0]]}" if given else "of this machine"
        message = f"the certificates can't be read: {where}: {error.strerror or error}"
        raise NoAnswer(message, retry=False) from error


def _pool(proxy: str, settings: Mapping[str, Any]) -> Any:
    """Return a pool whose connections lead through ``proxy``, or through none if it is empty."""
    import httpcore2

    if not proxy:
        return httpcore2.ConnectionPool(**settings)
    try:
        return _pool_behind(proxy, settings)
    except (ValueError, RuntimeError) as error:
        # The latter: httpcore2 has no package for SOCKS.
        why = "it needs the package socksio" if isinstance(error, RuntimeError) else error
        message = f"the proxy {proxy.rpartition('@')[2]} can't be used: {why}"
        raise NoAnswer(message, retry=False) from error


def _pool_behind(proxy: str, settings: Mapping[str, Any]) -> Any:
    from urllib.parse import unquote, urlsplit

    import httpcore2

    parts = urlsplit(proxy)
    if parts.scheme not in PROXIES or not parts.hostname or parts.port == 0:
        message = f"an address begins with one of {', '.join(PROXIES)}, and names a host"
        raise ValueError(message)
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if parts.scheme.startswith("socks5"):
        return httpcore2.SOCKSProxy(bare, auth, **settings)
    own = (settings["ssl_context"] or _certificates()) if parts.scheme == "https" else None
    return httpcore2.HTTPProxy(bare, auth, proxy_ssl_context=own, **settings)


def _close_all(pools: dict[str, tuple[Any, Any]]) -> None:
    for pool, _ in pools.values():
        pool.close()


def _origin(url: str) -> str:
    """Return scheme, host and port as they stand."""
    return "/".join(url.split("/", 3)[:3])


def _headers(target: Target) -> list[tuple[bytes | str, bytes | str]]:
    host = _origin(target.url).rpartition("/")[2].rpartition("@")[2]
    length = [("Content-Length", str(len(target.body)))] if target.body else []
    return [*target.headers.items(), ("Host", host), *length]
