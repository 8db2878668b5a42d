from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.acp.cutting import MAX_UPDATE_BYTES, cut_text
from protocol.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ToolCall,
    ToolCallUpdate,
    ToolDiff,
    ToolText,
    Update,
    encode_update,
    encode_updates,
)
from tests.protocol.json_values import VALUES
from tests.protocol.judge import judge_call


def test_a_chunk_is_one_line_that_names_session_and_message() -> None:
    line = encode_update("s1", AgentMessageChunk("a\nb", "m1"))

    assert line == (
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
        b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\\nb"},'
        b'"messageId":"m1"}}}\n'
    )


def test_what_an_update_does_not_change_is_not_sent() -> None:
    line = json.loads(encode_update("s", ToolCallUpdate(tool_call_id="t", status="completed")))

    assert line["params"]["update"] == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "status": "completed",
    }


def test_empty_and_false_values_are_sent() -> None:
    update = ToolCallUpdate(
        tool_call_id="t", title="", raw_input={}, raw_output=False, content=(), locations=()
    )

    assert json.loads(encode_update("s", update))["params"]["update"] == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "title": "",
        "rawInput": {},
        "rawOutput": False,
        "content": [],
        "locations": [],
    }


@settings(deadline=None)
@given(value=VALUES, text=st.text())
def test_any_raw_value_passes_the_schema(value: object, text: str) -> None:
    call = ToolCall(tool_call_id=text, title=text, raw_input=value, raw_output=value)

    judge_call(json.loads(encode_update(text, call)))


@pytest.mark.parametrize(
    "call",
    [
        ToolCallUpdate(tool_call_id="t", raw_output={"stdout": "x" * 5_000_000}),
        ToolCallUpdate(tool_call_id="t", content=(ToolText("\x01" * 2_000_000),)),
        ToolCallUpdate(tool_call_id="t", content=tuple(ToolText("x" * 100) for _ in range(50_000))),
        ToolCallUpdate(tool_call_id="t", content=(ToolDiff("/f", "a" * 900_000, "b" * 900_000),)),
        ToolCall(
            tool_call_id="t",
            title="t" * 2_000_000,
            raw_input=list(range(500_000)),
            raw_output="é" * 900_000,
            content=(ToolText("x" * 900_000), ToolDiff("/f", None, "b" * 900_000)),
        ),
    ],
)
def test_a_huge_tool_call_is_shortened_with_a_note_and_stays_valid(
    call: ToolCall | ToolCallUpdate,
) -> None:
    line = encode_update("s", call)

    assert len(line) <= MAX_UPDATE_BYTES
    assert b"left out" in line
    judge_call(json.loads(line))


@pytest.mark.parametrize("character", ["x", "é", "\U0001f600", '"', "\x01"])
def test_streamed_text_stays_under_60_kib_a_line(character: str) -> None:
    text, session_id = character * 200_000, "session-" + "0" * 100
    lines = [encode_update(session_id, AgentMessageChunk(p, "message-1")) for p in cut_text(text)]

    assert max(len(line) for line in lines) < 60 * 1024
    texts = [json.loads(line)["params"]["update"]["content"]["text"] for line in lines]
    assert "".join(texts) == text


def test_many_updates_are_the_lines_of_each() -> None:
    updates: list[Update] = [
        AgentMessageChunk("a", "m1"),
        AgentMessageChunk("\ud800 é", "m1"),
        AgentThoughtChunk("t", "m1"),
        AgentMessageChunk("b", "m2"),
        AgentMessageChunk("c", "m1"),
    ]

    assert encode_updates("s1", updates) == [encode_update("s1", update) for update in updates]


def test_a_chunk_is_equal_and_hashed_by_its_members() -> None:
    chunk = AgentMessageChunk("a", "m1")

    assert {chunk, AgentMessageChunk("a", "m1")} == {chunk}
    assert chunk not in {AgentMessageChunk("b", "m1"), AgentMessageChunk("a", "m2")}
