"""A relay before a model server: keeps each request and each answer as they were on the wire."""

from __future__ import annotations

import json
import threading
import urllib.parse
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

PASSED_ON = ("content-type", "retry-after")
"""Headers of an answer that a client may act on."""


@dataclass(slots=True)
class Exchange:
    """One request with its answer."""

    path: str
    headers: dict[str, str]
    """By names in lower case."""
    request: bytes
    answer: bytearray = field(default_factory=bytearray)

    @property
    def body(self) -> dict[str, Any]:
        """The request as it was meant."""
        value: dict[str, Any] = json.loads(self.request)
        return value

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of the answer."""
        lines = self.answer.decode().splitlines()
        said = (line.partition("data:")[2].strip() for line in lines if line.startswith("data:"))
        return [json.loads(each) for each in said if each.startswith("{")]


@dataclass(slots=True)
class Relay:
    """Where it listens, and what went through."""

    url: str
    exchanges: list[Exchange] = field(default_factory=list[Exchange])


@contextmanager
def relay(upstream: str) -> Generator[Relay]:
    """Pass on what is asked to the server at the address ``upstream``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    made = Relay(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = _handler(upstream, made)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _handler(upstream: str, kept: Relay) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            data = self.rfile.read(int(headers["content-length"]))
            exchange = Exchange(self.path, headers, data)
            kept.exchanges.append(exchange)
            there = HTTPConnection(urllib.parse.urlsplit(upstream).netloc, timeout=60)
            sent = {name: value for name, value in headers.items() if name != "host"}
            there.request("POST", self.path, data, sent)
            answer = there.getresponse()
            self.send_response(answer.status)
            for name in PASSED_ON:
                if value := answer.getheader(name):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while piece := answer.read1(65536):
                exchange.answer += piece
                self.wfile.write(piece)
            there.close()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    return Handler
