"""An agent on the official Python SDK: what our client meets in the wild."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import acp
from acp import schema


class SdkAgent:
    """Plans, thinks, edits with permission, and answers; ``wait`` runs until cancelled."""

    def __init__(self) -> None:
        self._client: Any = None
        self._cancelled = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION),
            agent_info=schema.Implementation(name="sdk-agent", version="1.0"),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        return schema.NewSessionResponse(session_id=f"sdk:{cwd}")

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> schema.PromptResponse:
        self._cancelled.clear()
        if prompt[0].text == "wait":
            await self._client.session_update(session_id, acp.start_tool_call("w", "Waiting"))
            await self._cancelled.wait()
            return schema.PromptResponse(stop_reason="cancelled")
        entries = [acp.plan_entry("Look", status="completed"), acp.plan_entry("Edit")]
        for update in (
            acp.update_agent_thought_text("Let me see"),
            acp.update_plan(entries),
            acp.start_tool_call("e", "Edit box.py", kind="edit", status="pending"),
        ):
            await self._client.session_update(session_id, update)
        allowed = await self._is_allowed(session_id)
        last = acp.update_tool_call("e", status="completed" if allowed else "failed")
        await self._client.session_update(session_id, last)
        text = acp.update_agent_message_text("edited" if allowed else "left alone")
        await self._client.session_update(session_id, text)
        return schema.PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        del session_id
        self._cancelled.set()

    async def _is_allowed(self, session_id: str) -> bool:
        answer = await self._client.request_permission(
            session_id=session_id,
            tool_call=schema.ToolCallUpdate(tool_call_id="e"),
            options=[
                schema.PermissionOption(option_id="a", name="Allow", kind="allow_once"),
                schema.PermissionOption(option_id="r", name="Reject", kind="reject_once"),
            ],
        )
        return getattr(answer.outcome, "option_id", None) == "a"


if __name__ == "__main__":
    asyncio.run(acp.run_agent(cast(acp.Agent, SdkAgent())))
