"""What `session/update` carries, live and replayed, beside what is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.runtimes.radian.acp.client import Client, call, told

if TYPE_CHECKING:
    from tests.runtimes.radian.box import Box

STREAMED: dict[str, Any] = {"reasoning": "Let me see.", "text": "It is four.", "chunk": 3}


def pieces(told_of: list[tuple[Any, ...]], kind: str) -> str:
    return "".join(each[1] for each in told_of if each[0] == kind)


def test_updates_are_live_or_replayed_and_the_journal_is_gone_on_with_elsewhere(box: Box) -> None:
    box.play({"text": "One."}, {"text": "Two."})
    with Client(box) as client:
        session = client.open()
        live = told(client.turn("first"))
    with Client(box) as client:
        replayed = told(client.load(session))
    box.play({"text": "Two."})
    run = box.run("exec", "-p", "second", "--resume", session, "--output", "json")

    assert replayed == [("user_message_chunk", "first"), *live]
    assert json.loads(run.stdout)["turn"] == 2


def test_updates_stream_the_answer_in_pieces(box: Box) -> None:
    box.play({**STREAMED, "delay_ms": 20})
    with Client(box) as client:
        client.open()
        turn = client.turn("2 + 2?")

    chunks = turn.updates("agent_message_chunk")
    assert len(chunks) > 1
    assert len({each["messageId"] for each in chunks}) == 1
    assert "".join(each["content"]["text"] for each in chunks) == STREAMED["text"]


def test_updates_stream_reasoning_as_thoughts(box: Box) -> None:
    box.play({**STREAMED, "delay_ms": 20})
    with Client(box) as client:
        client.open()
        turn = client.turn("2 + 2?")

    thoughts = turn.updates("agent_thought_chunk")
    assert len(thoughts) > 1
    assert "".join(each["content"]["text"] for each in thoughts) == STREAMED["reasoning"]


def test_updates_have_a_users_message_only_in_a_replay(box: Box) -> None:
    box.play(STREAMED, {"text": "Five."})
    with Client(box) as client:
        session = client.open()
        turns = [client.turn(words) for words in ("2 + 2?", "2 + 3?")]
        assert [turn.updates("user_message_chunk") for turn in turns] == [[], []]
    with Client(box) as client:
        replayed = told(client.load(session))

    assert [each for each in replayed if each[0] == "user_message_chunk"] == [
        ("user_message_chunk", "2 + 2?"),
        ("user_message_chunk", "2 + 3?"),
    ]
    assert pieces(replayed, "agent_thought_chunk") == STREAMED["reasoning"]
    assert pieces(replayed, "agent_message_chunk") == STREAMED["text"] + "Five."


def test_updates_of_a_tool_have_id_title_kind_status_locations_and_raw_input(box: Box) -> None:
    box.workspace.joinpath("a.txt").write_text("old\n")
    box.play(
        {
            "tool_calls": [
                call("read", path="a.txt"),
                call("shell", command="echo out"),
                call("glob", pattern="*"),
            ]
        },
        {"text": "Done."},
    )
    with Client(box, "--profile", "full") as client:
        client.open()
        turn = client.turn("look")

    read, shell, glob = turn.updates("tool_call")
    for each in (read, shell, glob):
        assert each["toolCallId"]
        assert each["title"]
        assert each["status"] == "pending"
        assert each["rawInput"]
    assert [each["kind"] for each in (read, shell, glob)] == ["read", "execute", "search"]
    assert read["locations"] == [{"path": str(box.workspace / "a.txt")}]
    assert read["rawInput"] == {"path": "a.txt"}
    assert shell["rawInput"]["command"] == "echo out"


def test_updates_of_a_tools_end_have_its_status_and_raw_output(box: Box) -> None:
    box.play(
        {"tool_calls": [call("shell", command="echo out"), call("read", path="nowhere")]},
        {"text": "Done."},
    )
    with Client(box, "--profile", "full") as client:
        session = client.open()
        turn = client.turn("go")
    with Client(box) as client:
        replayed = client.load(session)

    for shown in (turn, replayed):
        ended = [each for each in shown.updates("tool_call_update") if "rawOutput" in each]
        assert sorted(each["status"] for each in ended) == ["completed", "failed"]
        outputs = {each["status"]: each["rawOutput"]["output"] for each in ended}
        assert "out" in outputs["completed"]
        assert "nowhere" in outputs["failed"]
