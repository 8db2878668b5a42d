"""Proxies, encrypted connections, connections that live on, and what a cancel does to them."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from runtimes.models.base import CallFailed, Finished
from runtimes.models.calling import call_model
from runtimes.models.hang_up import Cancelled, HangUp, aside
from runtimes.models.http_stream import HttpClient
from runtimes.models.proxies import proxy_for
from runtimes.models.registry import dialect_of
from runtimes.models.secrets import Secrets
from runtimes.models.wire_provider import WireProvider
from tests.fakes import Running
from tests.runtimes.models.servers import (
    GOOD,
    REQUEST,
    call,
    config,
    hang_up,
    model_server,
    provider,
    signal,
    silent_after,
)
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.models.servers import ModelServer


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://api.x.com/v1", {}, ""),
        ("https://api.x.com/v1", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api.x.com/v1", {"https_proxy": "p:1"}, "http://p:1"),
        ("http://api.x.com/v1", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("http://api.x.com/v1", {"ALL_PROXY": "socks5://p:1"}, "socks5://p:1"),
        ("http://127.0.0.1:8080/v1", {"ALL_PROXY": "http://p:1"}, ""),
        ("https://api.x.com", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a, .x.com"}, ""),
        ("https://api.x.com", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, ""),
        ("https://api.x.com", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "y.com"}, "http://p:1"),
        ("https://apix.com", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x.com"}, "http://p:1"),
    ],
)
def test_the_usual_variables_lead_to_a_proxy(url: str, environ: dict[str, str], proxy: str) -> None:
    assert proxy_for(url, environ) == proxy


def test_a_call_goes_through_the_proxy() -> None:
    with model_server(GOOD) as proxy:
        settings = config("http://models.example/v1")
        client = HttpClient({"HTTP_PROXY": proxy.url.replace("http://", "http://me:pw@")})
        called = WireProvider(settings, dialect_of(settings), Secrets({}), client)

        got = call(called)

    assert got[-1] == Finished("stop", "stop")
    (request,) = proxy.requests
    assert request.path == "http://models.example/v1/chat/completions"
    assert request.headers["proxy-authorization"].startswith("Basic ")


FORMS = "an address begins with one of http, https, socks5, socks5h, and names a host"


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        ("ftp://p:1", f"the proxy ftp://p:1 can't be used: {FORMS}"),
        ("http://", f"the proxy http:// can't be used: {FORMS}"),
        (
            "http://me:pw@p:xx",
            "the proxy p:xx can't be used: Port could not be cast to integer value as 'xx'",
        ),
        ("http://me:pw@[p:1", "the proxy [p:1 can't be used: Invalid IPv6 URL"),
    ],
)
def test_a_proxy_that_is_none_is_told_without_its_password(proxy: str, why: str) -> None:
    settings = config("http://models.example/v1")
    client = HttpClient({"ALL_PROXY": proxy})

    (failed,) = call(WireProvider(settings, dialect_of(settings), Secrets({}), client))

    assert isinstance(failed, CallFailed)
    assert (failed.message, failed.retry) == (f"local: {why}", False)


def test_a_proxy_for_socks_says_which_package_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        message = "no package"
        raise RuntimeError(message)

    monkeypatch.setattr("httpcore2.SOCKSProxy", refuse)
    settings = config("http://models.example/v1")
    client = HttpClient({"ALL_PROXY": "socks5://p:1"})

    (failed,) = call(WireProvider(settings, dialect_of(settings), Secrets({}), client))

    assert isinstance(failed, CallFailed)
    assert failed.message.endswith("p:1 can't be used: it needs the package socksio")


@pytest.mark.parametrize(
    ("url", "environ"),
    [
        ("https://127.0.0.1:9/v1", {}),
        ("HTTPS://127.0.0.1:9/v1", {}),
        ("http://models.example/v1", {"HTTP_PROXY": "https://127.0.0.1:9"}),
    ],
)
def test_certificates_that_are_not_there_are_told_with_their_place(
    url: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file")
    settings = config(url)

    (failed,) = call(WireProvider(settings, dialect_of(settings), Secrets({}), HttpClient(environ)))

    assert isinstance(failed, CallFailed)
    why = "SSL_CERT_FILE=/no/such/file: No such file or directory"
    assert failed.message == f"local: the certificates can't be read: {why}"
    assert not failed.retry


def test_a_connection_is_used_again() -> None:
    with model_server(GOOD) as server:
        called = provider(server)
        for _ in range(3):
            call(called)

    assert server.connections == 1


def test_several_threads_may_call_at_once() -> None:
    with model_server(GOOD) as server:
        called = provider(server)
        running = [Running(lambda: call(called)) for _ in range(8)]

        assert all(each.result()[-1] == Finished("stop", "stop") for each in running)


def test_work_aside_is_left_alone_by_a_cancel_and_its_result_discarded() -> None:
    cancel, begun, go_on = signal(), threading.Event(), threading.Event()
    discarded: list[str] = []
    thrown_away = threading.Event()

    def work() -> str:
        begun.set()
        go_on.wait(10)
        return "late"

    def discard(result: str) -> None:
        discarded.append(result)
        thrown_away.set()

    running = Running(lambda: aside(work, cancel, discard))
    assert begun.wait(10)
    cancel.set()

    assert isinstance(running.error(), Cancelled)
    go_on.set()
    assert thrown_away.wait(10)
    assert discarded == ["late"]


def test_an_error_aside_is_raised_where_it_is_waited_for() -> None:
    def work() -> None:
        message = "no such name"
        raise OSError(message)

    with pytest.raises(OSError, match="no such name"):
        aside(work, signal())


def test_an_attempt_that_is_over_lets_go_of_its_socket() -> None:
    class Untouched:
        def shutdown(self, how: int) -> None:
            raise AssertionError(how)

    cancel = signal()
    hang_up = HangUp(cancel)
    hang_up.attach(Untouched())  # type: ignore[arg-type]
    hang_up.release()

    cancel.set()


# --- connections that come too slowly


def unreached(url: str, monkeypatch: pytest.MonkeyPatch) -> CallFailed:
    monkeypatch.setattr("runtimes.models.http_stream.CONNECT_TIMEOUT_S", 1.0)
    settings = config(url)
    (failed,) = call(WireProvider(settings, dialect_of(settings), Secrets({}), HttpClient({})))
    assert isinstance(failed, CallFailed)
    return failed


def test_a_name_server_that_hears_nothing_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = threading.Event()

    def look_up(*_: object, **__: object) -> None:
        over.wait(60)
        raise OSError

    monkeypatch.setattr("socket.getaddrinfo", look_up)

    failed = unreached("http://models.example/v1", monkeypatch)

    over.set()
    assert failed.message == "local: no connection to http://models.example within 1 s"
    assert failed.retry


def test_a_handshake_that_comes_a_byte_at_a_time_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            sock, _ = listener.accept()
            with sock:
                sock.settimeout(0.05)
                try:
                    sock.sendall(b"\x16\x03\x03\x40\x00")  # a record of 16 KiB begins
                    while True:
                        sock.sendall(b"\x02")
                        with suppress(TimeoutError):
                            while sock.recv(1024):
                                pass
                            return
                except OSError:
                    return
                finally:
                    gone.set()

        dripping = threading.Thread(target=drip)
        dripping.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"

        failed = unreached(f"{url}/v1", monkeypatch)

        assert gone.wait(20)
        dripping.join(20)
    assert failed.message == f"local: no connection to {url} within 1 s"
    assert failed.retry


# --- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that nobody trusts, with its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    words = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    words += ["-keyout", str(folder / "both.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    both = (folder / "both.pem").read_text() + (folder / "cert.pem").read_text()
    (folder / "both.pem").write_text(both)
    return folder


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "both.pem")
    return context


def test_a_trusted_server_is_called_over_tls(
    certificate: Path, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    with model_server(GOOD, tls=tls) as server:
        called = provider(server)

        assert call(called)[-1] == Finished("stop", "stop")
        assert call(called)[-1] == Finished("stop", "stop")
    assert server.connections == 1


def test_a_call_goes_through_an_encrypted_proxy_whose_certificates_are_read_once(
    certificate: Path, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    settings = config("http://models.example/v1")
    with model_server(hang_up, GOOD, tls=tls) as proxy:
        client = HttpClient({"HTTP_PROXY": proxy.url.removesuffix("/v1")})
        called = WireProvider(settings, dialect_of(settings), Secrets({}), client)
        (failed,) = call(called)
        monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file")

        got = call(called)

    assert isinstance(failed, CallFailed)
    assert got[-1] == Finished("stop", "stop")
    assert [each.path for each in proxy.requests] == [
        "http://models.example/v1/chat/completions"
    ] * 2
    assert proxy.connections == 2


PLAIN_THEN_ENCRYPTED = """
import sys
from actors.cancel import CancelSignal
from actors.real_platform import RealPlatform
from runtimes.models.http_stream import HttpClient, Target

client = HttpClient({})
for url in sys.argv[1:]:
    with client.post(Target(url, {}, b"{}", 10.0), CancelSignal(RealPlatform())) as reply:
        body = reply.body()
    print(reply.status, bool(body), "ssl" in sys.modules)
"""


def test_the_tls_library_comes_with_the_first_encrypted_call(
    certificate: Path, tls: ssl.SSLContext
) -> None:
    env = {"SSL_CERT_FILE": str(certificate / "cert.pem"), "PYTHONPATH": str(ROOT)}
    with model_server(GOOD) as plain, model_server(GOOD, tls=tls) as encrypted:
        words = [sys.executable, "-c", PLAIN_THEN_ENCRYPTED, plain.url, encrypted.url, plain.url]
        done = subprocess.run(
            words, env=env, capture_output=True, check=False, timeout=60, text=True
        )

    assert done.stdout.splitlines() == ["200 True False", "200 True True", "200 True True"], done


def test_a_server_that_nobody_trusts_is_not_called_again(tls: ssl.SSLContext) -> None:
    with model_server(GOOD, tls=tls) as server:
        (failed,) = call(provider(server))

    assert isinstance(failed, CallFailed)
    assert "certificate" in failed.message
    assert not failed.retry
    assert server.requests == []


def test_a_cancel_ends_an_encrypted_stream(
    certificate: Path, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    with model_server(silent_after(), tls=tls) as server:
        assert _cancelled(server, server.silent) == "cancelled"


def test_a_cancel_ends_a_handshake_that_nobody_answers(tls: ssl.SSLContext) -> None:
    with model_server(tls=tls) as server:
        assert _cancelled(server, server.shaken) == "cancelled"


def _cancelled(server: ModelServer, stuck: threading.Event) -> str:
    """Cancel a call once it is stuck, and return how it finished."""
    cancel = signal()
    called = provider(server)
    running = Running(lambda: list(call_model(called, REQUEST, cancel)))
    assert stuck.wait(10)
    cancel.set()
    (answer,) = running.result()
    return answer.finish  # type: ignore[union-attr]
