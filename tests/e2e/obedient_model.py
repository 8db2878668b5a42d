"""A model on the loopback that does what it is told: it makes an agent run a shell script.

It speaks chat completions.  A message that begins with `RUN` becomes a call of the tool `shell`,
and what the tool returned becomes the answer; any other message is answered with one word.
"""

from __future__ import annotations

import atexit
import json
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RUN = "sh: "
REFUSED = "you can not"
"""A message that begins so fails the call."""
FLOOD = "talk on and on"
"""A message that begins so is answered without an end."""
ANSWER = "ok"
LONGEST = 8000
"""Characters of an answer, which stands whole in the line that answers a prompt."""


class _Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer one call."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        last = json.loads(body)["messages"][-1]
        # What was said before and got no answer comes before it, in the same message.
        said = _text_of(last).rpartition("\n\n")[2] if last["role"] == "user" else _text_of(last)
        if last["role"] == "user" and said.startswith(REFUSED):
            self._send(400, "application/json", b'{"error":{"message":"it said no"}}')
            return
        if last["role"] == "user" and said.startswith(FLOOD):
            self._flood()
        if last["role"] == "user" and said.startswith(RUN):
            delta, finish = _call(said.removeprefix(RUN)), "tool_calls"
        else:
            delta, finish = (
                {"content": said[:LONGEST] if last["role"] == "tool" else ANSWER},
                "stop",
            )
        chunks = [_chunk(delta, None), _chunk({}, finish)]
        stream = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in chunks)
        self._send(200, "text/event-stream", stream + b"data: [DONE]\n\n")

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _flood(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        data = b"data: " + json.dumps(_chunk({"content": "on and on "}, None)).encode() + b"\n\n"
        while True:  # until the other side hangs up
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Take it that a client has gone: agents are cancelled and killed here all the time."""


def _text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _call(command: str) -> dict[str, Any]:
    arguments = json.dumps({"command": command, "timeout_ms": 900_000})
    function = {"name": "shell", "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": "run", "type": "function", "function": function}]}


def _chunk(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


@cache
def base_url() -> str:
    """Start the model once for this run of the tests, and return where it is."""
    server = _Server(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    atexit.register(server.server_close)
    return f"http://127.0.0.1:{server.server_address[1]}/v1"
