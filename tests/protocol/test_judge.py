"""The judge of other tests must itself refuse what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import ValidationError

from tests.protocol.judge import judge_call, judge_error, judge_result


def update(**members: Any) -> dict[str, Any]:
    params = {"sessionId": "s", "update": members}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def test_a_right_message_passes() -> None:
    judge_call(update(sessionUpdate="usage_update", used=0, size=2**64 - 1))
    judge_call(update(sessionUpdate="tool_call", toolCallId="t", title="t", _meta={"any": 1}))


@pytest.mark.parametrize(
    "message",
    [
        update(sessionUpdate="agentMessageChunk"),
        update(sessionUpdate="tool_call", toolCallId="t"),
        update(sessionUpdate="tool_call", toolCallId="t", title="t", stray=1),
        update(sessionUpdate="tool_call", toolCallId="t", title="t", kind="shell"),
        update(sessionUpdate="usage_update", used=-1, size=1),
        update(sessionUpdate="usage_update", used=1, size=2**64),
        update(
            sessionUpdate="tool_call",
            toolCallId="t",
            title="t",
            locations=[{"path": "/a", "line": 2**32}],
        ),
        update(
            sessionUpdate="agent_message_chunk",
            content={"type": "text", "text": "x", "stray": 1},
            messageId="m",
        ),
        update(
            sessionUpdate="plan", entries=[{"content": "x", "priority": "low", "status": "done"}]
        ),
    ],
)
def test_a_wrong_update_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        judge_call(message)


@pytest.mark.parametrize(
    "result", [{"stopReason": "waiting"}, {"stopReason": "end_turn", "cost": 1}, {}, None]
)
def test_a_wrong_result_is_refused(result: object) -> None:
    with pytest.raises(ValidationError):
        judge_result("session/prompt", {"jsonrpc": "2.0", "id": 1, "result": result})


def test_a_wrong_error_is_refused() -> None:
    with pytest.raises(ValidationError):
        judge_error({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "x"}})


def test_a_wrong_envelope_is_refused() -> None:
    with pytest.raises(AssertionError):
        judge_result("session/load", {"id": 1, "result": {}})
