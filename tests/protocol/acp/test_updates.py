from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.acp.cutting import MAX_UPDATE_BYTES, cut_text
from protocol.acp.permissions import PermissionOption, permission_request
from protocol.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    Location,
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


LONG = "a" * 70_000


@pytest.mark.parametrize("kind", [ToolCall, ToolCallUpdate])
@pytest.mark.parametrize(
    "members",
    [
        {"tool_call_id": LONG},
        {"title": LONG},
        {"locations": (Location(f"/{LONG}"), Location("/a"))},
        {"locations": tuple(Location(f"/{LONG[:4000]}{number}") for number in range(20))},
        {"content": (ToolDiff(f"/{LONG}", "old", "new"),)},
        {"content": tuple(ToolDiff(f"/{LONG[:4000]}", LONG, LONG) for _ in range(64))},
        {"raw_input": {"path": LONG}, "locations": (Location(f"/{LONG}"),), "tool_call_id": LONG},
    ],
    ids="-".join,
)
def test_no_member_of_a_tool_call_makes_a_line_too_long(
    kind: type[ToolCall | ToolCallUpdate], members: dict[str, Any]
) -> None:
    given: dict[str, Any] = {"tool_call_id": "c", "title": "t", **members}
    call = kind(**given)
    line = encode_update("s", call)
    asked = permission_request("s", call, [PermissionOption("yes", "Yes", "allow_once")])

    assert len(line) <= MAX_UPDATE_BYTES
    assert len(json.dumps(asked)) <= MAX_UPDATE_BYTES
    judge_call(json.loads(line))


def test_a_place_that_fits_stays_where_another_does_not() -> None:
    places = (Location(f"/{LONG}"), Location("/a", 3))
    update = json.loads(
        encode_update("s", ToolCall(tool_call_id="c", title="t", locations=places))
    )["params"]["update"]

    assert update["locations"] == [{"path": "/a", "line": 3}]


@pytest.mark.parametrize("number", [-1, 0, 1, 2**32 - 1, 2**32, 2**63])
def test_a_line_that_no_file_has_is_left_out_of_its_place(number: int) -> None:
    call = ToolCall(tool_call_id="c", title="t", locations=(Location("/a", number),))
    message = json.loads(encode_update("s", call))
    (place,) = message["params"]["update"]["locations"]

    judge_call(message)
    assert place.get("line", 0) == (number if 1 <= number < 2**32 else 0)


def test_long_ids_of_calls_stay_apart_and_the_same() -> None:
    def sent(call_id: str) -> str:
        line = encode_update("s", ToolCallUpdate(tool_call_id=call_id))
        return str(json.loads(line)["params"]["update"]["toolCallId"])

    assert sent("c" * 256) == "c" * 256
    assert sent(LONG) == sent(LONG)
    assert len(sent(LONG)) == 256
    assert len({sent(f"{LONG}{number}") for number in range(5)} | {sent("\ud800" * 300)}) == 6
