"""An instant model on loopback, in three wire formats: what is measured is the agent before it.

Says its port on stdout, serves until stdin ends.  The last ``bench:`` in a request says what the
model does: ``stream N SIZE`` answers in N numbered chunks of SIZE characters, ``hang`` says one
word and then nothing, ``call NAME {…}`` calls a tool and says "done" once its result has come;
anything else is answered in one chunk.  ``GET /sent`` tells how many bytes have left,
``GET /arrived`` when the last request had come (seconds of the monotonic clock), ``GET /hung_up``
when the last hanging stream was closed.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING

from bench.agents.model_formats import CALL_ID, CHAT, FORMATS, encoded

if TYPE_CHECKING:
    from bench.agents.model_formats import Format

WORDS = re.compile(rb"bench:(\w+)(?: (\d+) (\d+)| (\w+) (\{.*?\}))?")
"""Inside of JSON texts: quotes come escaped."""
BATCH = 64
"""Chunks in one write, as a busy server joins them."""
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
END = b"0\r\n\r\n"


class Server:
    """Counts what leaves and notes when things happen; a thread a connection."""

    def __init__(self) -> None:
        self.sent = 0
        self.arrived = 0.0
        self.hung_up = 0.0

    def serve(self, connection: socket.socket) -> None:
        """Answer requests until the other side leaves."""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        held = bytearray()
        try:
            while (request := _request(connection, held)) is not None:
                self.arrived = time.monotonic()
                self._answer(connection, *request)
        except (ConnectionError, TimeoutError):
            pass  # the client cancelled: nothing to clean up
        finally:
            connection.close()

    def _answer(self, connection: socket.socket, path: bytes, body: bytes) -> None:
        if not body:
            figure = getattr(self, path.rpartition(b"/")[2].decode(), None)
            text = json.dumps({"data": [], "value": figure}).encode()
            head = (
                f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(text)}"
            )
            connection.sendall(head.encode() + b"\r\n\r\n" + text)
            return
        place = path.partition(b"?")[0].decode()
        wire = next((wire for end, wire in FORMATS if place.endswith(end)), CHAT)
        at = body.rfind(b"bench:")
        found = WORDS.match(body, at) if at >= 0 else None
        words = [(word or b"").decode() for word in found.groups()] if found else [""]
        match words:
            case ["stream", count, size, *_]:
                self._stream(connection, wire, int(count), int(size))
            case ["hang", *_]:
                self._hang(connection, wire)
            case ["call", _, _, name, arguments] if CALL_ID.encode() not in body[at:]:
                said = wire.calling(name, arguments.replace('\\"', '"'))
                self._send(connection, HEAD + _chunk(said) + END)
            case _:
                self._send(connection, HEAD + _chunk(wire.whole("done")) + END)

    def _stream(self, connection: socket.socket, wire: Format, count: int, size: int) -> None:
        texts = [f"{number:08d} ".ljust(size, "x") for number in range(count)]
        self._send(connection, HEAD + _chunk(encoded(wire.before)))
        for start in range(0, count, BATCH):
            pieces = map(wire.piece, texts[start : start + BATCH])
            self._send(connection, _chunk(encoded(pieces)))
        end = encoded(wire.after("".join(texts))) + wire.last
        self._send(connection, _chunk(end) + END)

    def _hang(self, connection: socket.socket, wire: Format) -> None:
        start = encoded([*wire.before, wire.piece("working")])
        self._send(connection, HEAD + _chunk(start))
        try:
            while connection.recv(1 << 16):
                pass
        finally:
            self.hung_up = time.monotonic()

    def _send(self, connection: socket.socket, data: bytes) -> None:
        view = memoryview(data)
        while view:
            taken = connection.send(view)
            self.sent += taken
            view = view[taken:]


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _request(connection: socket.socket, held: bytearray) -> tuple[bytes, bytes] | None:
    """Read one request; None: the other side has left."""
    while (end := held.find(b"\r\n\r\n")) < 0:
        if not (data := connection.recv(1 << 16)):
            return None
        held += data
    head = bytes(held[:end]).lower()
    path = bytes(held[:end]).split(b" ", 2)[1]
    del held[: end + 4]
    length = re.search(rb"\r\ncontent-length: *(\d+)", head)
    size = int(length[1]) if length else 0
    if b"100-continue" in head:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    if b"transfer-encoding: chunked" in head:
        return path, _chunked(connection, held)
    while len(held) < size:
        if not (data := connection.recv(1 << 20)):
            return None
        held += data
    body = bytes(held[:size])
    del held[:size]
    return path, body


def _chunked(connection: socket.socket, held: bytearray) -> bytes:
    body = bytearray()
    while True:
        while (end := held.find(b"\r\n")) < 0:
            held += connection.recv(1 << 16)
        size = int(held[:end], 16)
        while len(held) < end + 2 + size + 2:
            held += connection.recv(1 << 20)
        body += held[end + 2 : end + 2 + size]
        del held[: end + 2 + size + 2]
        if size == 0:
            return bytes(body)


def main() -> None:
    """Listen, say where, and serve until stdin ends."""
    server = Server()
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=server.serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
