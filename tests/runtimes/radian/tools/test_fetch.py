"""`fetch` from a server of the test's own."""

from __future__ import annotations

import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.permissions import Ask
from runtimes.radian.tools.base import ToolFailedError, ToolOutcome
from runtimes.radian.tools.fetch import Fetch, normal_url
from runtimes.radian.tools.html_text import html_text
from tests.runtimes.radian.tools.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    waiting = threading.Event()
    go_on = threading.Event()

    def do_GET(self) -> None:
        match self.path:
            case "/reset":
                reset = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                self.close_connection = True
                self.rfile.close()
                self.wfile.close()
                self.connection.close()
            case "/page":
                self._say(
                    200,
                    "text/html; charset=latin-1",
                    "<title>T</title><p>h\xe9</p>".encode("latin-1"),
                )
            case "/moved":
                self._say(302, "text/plain", b"", Location="/page")
            case "/away":
                self._say(302, "text/plain", b"", Location="http://example.org/x")
            case "/loop":
                self._say(302, "text/plain", b"", Location="/loop")
            case "/long":
                self._say(200, "text/plain", b"x" * 3_000_000)
            case "/image":
                self._say(200, "image/png", b"\x89PNG")
            case "/packed":
                self._say(200, "text/plain", b"\x1f\x8b", **{"Content-Encoding": "gzip"})
            case "/odd":
                self._say(200, "text/plain; charset=idna", b"plain")
            case "/slow":
                self.waiting.set()
                self.go_on.wait(20)
                self._say(200, "text/plain", b"late")
            case "/echo":
                self._say(200, "text/plain", str(sorted(self.headers.keys())).encode())
            case _:
                self._say(404, "text/plain", b"no such page")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is given
        """Say nothing."""

    def _say(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            return  # the reader had enough


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of readers that had enough."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Serve on a port of the loopback."""
    httpd = _Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    httpd.server_close()


@pytest.fixture
def open_bench(tmp_path: Path) -> Iterator[Bench]:
    """Make a bench that may fetch."""
    made = Bench(tmp_path, "full")
    yield made
    made.close()


def test_a_page_comes_as_text(open_bench: Bench, server: str) -> None:
    fetch = Fetch({})

    assert open_bench.call(fetch, url=f"{server}/page").output == "T\n\nh\xe9"
    assert open_bench.call(fetch, url=f"{server}/moved").output == "T\n\nh\xe9"


def test_another_host_is_asked_for_anew(open_bench: Bench, server: str) -> None:
    outcome = open_bench.call(Fetch({}), url=f"{server}/away")

    assert outcome.output == (
        f"{server}/away redirects to another host: fetch http://example.org/x if you want it"
    )


def test_what_never_ends_is_cut(open_bench: Bench, server: str) -> None:
    assert "more than 5 times" in open_bench.call(Fetch({}), url=f"{server}/loop").output
    long = open_bench.call(Fetch({}), url=f"{server}/long", max_bytes=1000).output
    assert len(long) < 1200
    assert "bytes left out" in long


def test_an_error_of_the_server_is_a_failure_with_its_text(open_bench: Bench, server: str) -> None:
    assert open_bench.call(Fetch({}), url=f"{server}/none") == ToolOutcome(
        f"HTTP 404 from {server}/none\nno such page", failed=True, reason="HTTP 404"
    )
    assert "image/png" in open_bench.call(Fetch({}), url=f"{server}/image").output
    assert open_bench.call(Fetch({}), url="http://127.0.0.1:1/").failed


def test_a_call_that_fails_is_told_in_words(open_bench: Bench, server: str) -> None:
    addresses = [f"{server}/reset", server.replace("http:", "https:"), "http://127.0.0.1:1/"]

    said = [open_bench.call(Fetch({}), url=address).output for address in addresses]

    assert said[0] == f"{addresses[0]}: the connection broke: Connection reset by peer"
    assert said[1].endswith(f"no connection to {addresses[1]}: wrong version number")
    assert said[2].endswith("no connection to http://127.0.0.1:1: Connection refused")


def test_an_odd_encoding_is_told_or_passed_over(open_bench: Bench, server: str) -> None:
    packed = open_bench.call(Fetch({}), url=f"{server}/packed")

    assert packed.failed
    assert packed.output == f"{server}/packed comes encoded as gzip, which was not asked for"
    assert open_bench.call(Fetch({}), url=f"{server}/odd").output == "plain"


def test_a_request_brings_no_more_than_it_must(open_bench: Bench, server: str) -> None:
    assert open_bench.call(Fetch({}), url=f"{server}/echo").output == (
        "['Accept', 'Accept-Encoding', 'Host', 'User-Agent']"
    )


def test_a_cancel_ends_the_wait(open_bench: Bench, server: str) -> None:
    fetch = Fetch({})
    running = open_bench.begin(fetch, open_bench.prepare(fetch, url=f"{server}/slow"))
    assert _Handler.waiting.wait(20)

    running.handle.abort("cancelled")

    assert running.outcome().failed
    _Handler.go_on.set()


def test_a_page_is_asked_for_by_its_host(bench: Bench) -> None:
    decision = bench.decide(bench.prepare(Fetch({}), url="HTTPS://Docs.Python.org:443/3/#x"))

    assert isinstance(decision, Ask)
    assert decision.grant is not None
    assert decision.grant.covers == "fetch from https://docs.python.org"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://",
        "http://a b/",
        "http://me:pw@host/",
        "http://169.254.169.254/latest",
        "http://169.254.169.254./latest",
        "http://2852039166/latest",
        "http://0xa9fea9fe/latest",
        "http://0251.254.43518/latest",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/",
        "http://\u00e9..x/",
        "http://[fe80::1]/",
        "http://metadata.google.internal./",
        "http://host:99999/",
        "gopher://x/",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ToolFailedError):
        normal_url(url)


def test_a_broken_page_still_has_text() -> None:
    page = """<html><head><title>A  b</title><style>x</style><body><h1>One</h1><p>two <b>three</b>
    <a href="http://x.org/">four</a><script>bad()</script><ul><li>five<li>six</ul><pre>a
      b</pre>&lt;&amp;"""

    assert html_text(page) == (
        "A b\n\n# One\n\ntwo three four (http://x.org/)\n\n- five\n- six\n\na\n      b\n<&"
    )
