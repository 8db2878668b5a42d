"""The least that an agent with a model can be on the official Python SDK: it passes prompts on.

``BENCH_MODEL`` is the address of a chat completions interface.  Each turn is one request, each
piece of the answer one update; a cancel closes the connection.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit
from uuid import uuid4

from acp import (
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    update_agent_message_text,
)

if TYPE_CHECKING:
    from acp.interfaces import Client

MODEL = urlsplit(os.environ["BENCH_MODEL"])


class ModelAgent:
    """The methods that the bench calls."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._said: dict[str, list[dict[str, str]]] = {}

    def on_connect(self, conn: Client) -> None:
        """Remember whom updates go to."""
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Agree to the client's version."""
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        """Open a session."""
        del cwd
        session_id = uuid4().hex
        self._said[session_id] = []
        return NewSessionResponse(session_id=session_id)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """End what runs."""
        if session_id in self._turns:
            self._turns[session_id].cancel()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        """Ask the model and pass its answer on."""
        self._said[session_id].append({"role": "user", "content": prompt[0].text})
        turn = asyncio.ensure_future(self._answer(session_id))
        self._turns[session_id] = turn
        try:
            await turn
        except asyncio.CancelledError:
            return PromptResponse(stop_reason="cancelled")
        return PromptResponse(stop_reason="end_turn")

    async def _answer(self, session_id: str) -> None:
        assert self._client is not None
        said = self._said[session_id]
        body = json.dumps({"model": "bench", "stream": True, "messages": said}).encode()
        reader, writer = await asyncio.open_connection(MODEL.hostname, MODEL.port)
        head = f"POST {MODEL.path}/chat/completions HTTP/1.1\r\nHost: {MODEL.netloc}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        pieces: list[str] = []
        try:
            while (line := await reader.readline()) and line != b"data: [DONE]\n":
                if line.startswith(b"data: "):
                    choices = json.loads(line[6:])["choices"]
                    text = choices[0]["delta"].get("content") if choices else None
                    if text:
                        pieces.append(text)
                        await self._client.session_update(
                            session_id=session_id, update=update_agent_message_text(text)
                        )
        finally:
            writer.close()
        said.append({"role": "assistant", "content": "".join(pieces)})


if __name__ == "__main__":
    asyncio.run(run_agent(cast("Any", ModelAgent()), stdio_buffer_limit_bytes=128 * 1024 * 1024))
