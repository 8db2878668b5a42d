from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from protocol.acp.client_side import (
    AgentSaid,
    PermissionQuestion,
    PromptAnswer,
    cancelled_outcome,
    parse_initialize_result,
    parse_new_session_result,
    parse_permission_request,
    parse_prompt_result,
    selected_outcome,
)
from protocol.acp.permissions import (
    CancelledOutcome,
    PermissionOption,
    Selected,
    parse_permission_outcome,
    permission_request,
)
from protocol.acp.prompts import prompt_result
from protocol.acp.seen import OtherUpdate, SessionUpdate, parse_session_update
from protocol.acp.sessions import new_session_result
from protocol.acp.updates import ToolCallUpdate
from protocol.errors import InvalidParams
from protocol.handshake import AgentCapabilities, AgentInfo, initialize_result
from tests.protocol.json_values import VALUES


def test_the_handshake_is_read_as_it_was_said() -> None:
    info = AgentInfo("chant", "0.1", "chant")
    said = AgentCapabilities(
        load_session=True,
        resume=True,
        close=True,
        list_sessions=True,
        delete=True,
        image=True,
        audio=True,
        embedded_context=True,
        mcp_http=True,
        mcp_sse=True,
        meta={"chant": {}},
    )

    assert parse_initialize_result(initialize_result(info, said)) == AgentSaid(1, said, info)


@pytest.mark.parametrize("result", [None, {}, {"protocolVersion": "1"}, []])
def test_a_handshake_without_a_version_is_refused(result: object) -> None:
    with pytest.raises(InvalidParams, match="protocolVersion"):
        parse_initialize_result(result)


def test_an_agent_that_says_only_its_version_has_no_capabilities() -> None:
    assert parse_initialize_result({"protocolVersion": 1}) == AgentSaid(1, AgentCapabilities())


def test_results_are_read_as_they_were_written() -> None:
    assert parse_new_session_result(new_session_result("s")) == "s"
    assert parse_prompt_result(prompt_result("_own", {"a": 1})) == PromptAnswer("_own", {"a": 1})


def test_a_question_is_read_as_it_was_asked() -> None:
    call = ToolCallUpdate(tool_call_id="t", title="Approve", kind="execute")
    options = (
        PermissionOption("y", "Yes", "allow_once"),
        PermissionOption("n", "No", "reject_once"),
    )

    params = permission_request("s", call, options, {"chant": {"request": "r"}})

    assert parse_permission_request(params) == PermissionQuestion(
        "s", call, options, {"chant": {"request": "r"}}
    )


def test_options_of_unknown_kind_are_left_out() -> None:
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "t"},
        "options": [{"optionId": "a", "name": "A", "kind": "maybe"}, None, {"optionId": 1}],
    }

    assert parse_permission_request(params).options == ()


def test_outcomes_are_read_as_they_were_chosen() -> None:
    assert parse_permission_outcome(selected_outcome("y")) == Selected("y")
    assert parse_permission_outcome(cancelled_outcome()) == CancelledOutcome()


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": ""}},
        {"sessionUpdate": "tool_call", "toolCallId": "t"},
        {"sessionUpdate": "tool_call_update"},
        {"sessionUpdate": "usage_update", "used": 1},
        {"sessionUpdate": "current_mode_update", "currentModeId": "m"},
        {"sessionUpdate": "agentMessageChunk"},
    ],
)
def test_an_update_that_cannot_be_read_is_kept_as_other(update: dict[str, Any]) -> None:
    assert parse_session_update({"sessionId": "s", "update": update}) == SessionUpdate(
        "s", OtherUpdate(update["sessionUpdate"], update)
    )


@settings(deadline=None)
@given(update=VALUES)
def test_no_update_makes_the_reader_raise(update: Any) -> None:
    parse_session_update({"sessionId": "s", "update": update})
    for kind in ("tool_call", "tool_call_update", "plan", "usage_update"):
        shapes = {"content": [update], "locations": [update], "entries": [update], "cost": update}
        members = {"sessionUpdate": kind, "toolCallId": "t", "title": "t", **shapes}
        parse_session_update({"sessionId": "s", "update": members})
