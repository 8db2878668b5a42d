"""A small agent on the official Python SDK, written as its examples are.

``stream N SIZE`` sends N updates of SIZE characters, ``hang`` waits for a cancel, anything else
ends at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast
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


class BenchAgent:
    """The methods that the bench calls.  Keeps an event for each session, set by its cancel."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._cancelled: dict[str, asyncio.Event] = {}

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
        self._cancelled[session_id] = asyncio.Event()
        return NewSessionResponse(session_id=session_id)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """End what runs."""
        self._cancelled[session_id].set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        """Do what the first words say."""
        assert self._client is not None
        cancelled = self._cancelled[session_id]
        cancelled.clear()
        words = prompt[0].text[:100].split()
        match words:
            case ["stream", count, size]:
                for number in range(int(count)):
                    text = f"{number:08d} ".ljust(int(size), "x")
                    await self._client.session_update(
                        session_id=session_id, update=update_agent_message_text(text)
                    )
            case ["hang"]:
                await cancelled.wait()
                return PromptResponse(stop_reason="cancelled")
            case _:
                pass
        return PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(run_agent(cast("Any", BenchAgent()), stdio_buffer_limit_bytes=128 * 1024 * 1024))
