"""Loading an existing session: replayed, answered and continued, or refused without a trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.acp.client import ONE, Client, call, new, refusal, spoken, told

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.radian.box import Box


def test_loading_an_existing_session_replays_the_transcript_in_order_and_then_answers(
    box: Box,
) -> None:
    spoken(box)
    with Client(box) as client:
        replayed = client.load("s1")
        assert client.exchange(b"") == []

    assert replayed.answer["result"] == {}
    ids = [update["toolCallId"] for update in replayed.updates("tool_call")]
    assert len(set(ids)) == 3
    assert told(replayed) == [
        ("user_message_chunk", "make it"),
        ("agent_thought_chunk", "Hm."),
        ("agent_message_chunk", "First."),
        ("tool_call", ids[0], "pending"),
        ("tool_call_update", ids[0], "completed"),
        # Two of one answer: each is followed by its own end.
        ("tool_call", ids[1], "pending"),
        ("tool_call_update", ids[1], "failed"),
        ("tool_call", ids[2], "pending"),
        ("tool_call_update", ids[2], "completed"),
        ("agent_message_chunk", "Done."),
    ]
    first = replayed.updates("tool_call")[0]
    assert (first["title"], first["kind"]) == ("write a", "edit")
    assert first["rawInput"] == {"path": "a", "content": "1"}
    assert first["locations"] == [{"path": str(box.workspace / "a")}]
    assert replayed.updates("tool_call_update")[0]["rawOutput"]["output"]


def test_loading_an_existing_session_twice_shows_the_same(box: Box) -> None:
    spoken(box)

    seen: list[object] = []
    for _ in range(2):
        with Client(box) as client:
            seen.append(client.load("s1").messages)

    assert seen[0] == seen[1]


def test_loading_an_existing_session_replays_long_texts_whole(box: Box) -> None:
    """In lines that each client can read, and cut between characters; the referee looks."""
    asked, thought, said = "✓" * 50_000, "💫" * 50_000, "é" * 50_000
    box.play({"reasoning": thought, "text": said})
    with Client(box, "--session-id", "s1") as client:
        client.open()
        client.turn(asked)
    with Client(box) as client:
        replayed = client.load("s1")

    kinds = ("user_message_chunk", "agent_thought_chunk", "agent_message_chunk")
    texts = {kind: "".join(text for each, text in told(replayed) if each == kind) for kind in kinds}
    assert texts == dict(zip(kinds, (asked, thought, said), strict=True))


def test_loading_an_existing_session_closes_what_a_killed_process_left_open(box: Box) -> None:
    spoken(box)
    path = box.home / "sessions" / "s1.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    last = max(at for at, each in enumerate(lines) if '"AssistantMessage"' in each) - 1
    while '"AssistantMessage"' not in lines[last]:
        last -= 1
    path.write_text("".join(lines[: last + 1]))

    with Client(box) as client:
        replayed = client.load("s1")

    assert [each["status"] for each in replayed.updates("tool_call_update")][1:] == ["failed"] * 2


def test_loading_an_existing_session_and_a_prompt_continue_the_same_journal(box: Box) -> None:
    spoken(box)
    box.play({"when": "next", "text": "More."})
    with Client(box) as client:
        client.load("s1")
        turn = client.turn("next")

    assert turn.stop_reason == "end_turn"
    assert turn.text == "More."
    assert [each["turn"] for each in box.journal("s1") if each["type"] == "TurnEnded"] == [1, 2]
    assert len(list(box.home.joinpath("sessions").glob("*.jsonl"))) == 1


@pytest.mark.parametrize("name", ["../outside", "../sessions/s1", "./s1", "s1/", "s1\0", "S1"])
def test_loading_an_existing_session_by_a_path_is_refused_though_a_journal_is_there(
    box: Box, name: str
) -> None:
    spoken(box)
    inside = box.home / "sessions" / "s1.jsonl"
    outside = box.home / "outside.jsonl"
    outside.write_bytes(inside.read_bytes())
    before = sorted((path, path.stat().st_mtime_ns) for path in box.home.rglob("*.jsonl"))
    with Client(box) as client:
        refused = client.load(name)

        assert refusal(refused.answer)[0] in {-32002, -32602}
        assert refused.messages == []
    assert sorted((path, path.stat().st_mtime_ns) for path in box.home.rglob("*.jsonl")) == before


@pytest.mark.parametrize("unknown", ["nowhere", "../../etc/passwd", ""])
def test_loading_an_existing_session_of_an_unknown_id_names_it_and_something_else_can_be_opened(
    box: Box, unknown: str
) -> None:
    with Client(box) as client:
        code, message = refusal(client.load(unknown).answer)

        assert code in {-32002, -32602}
        assert unknown in message
        assert "result" in new(client, box.workspace)


def test_loading_an_existing_session_of_a_foreign_session_names_it_and_writes_nothing(
    box: Box, tmp_path: Path
) -> None:
    spoken(box)
    other = tmp_path / "other"
    other.mkdir()
    before = box.home.joinpath("sessions", "s1.jsonl").read_bytes()
    with Client(box) as client:
        code, message = refusal(client.load("s1", other).answer)

        assert (code, "s1" in message, str(box.workspace) in message) == (-32602, True, True)
        assert box.home.joinpath("sessions", "s1.jsonl").read_bytes() == before
        assert "result" in new(client, other)


def test_loading_an_existing_session_through_a_link_or_of_another_spelling_is_the_same_workspace(
    box: Box, tmp_path: Path
) -> None:
    spoken(box)
    link = tmp_path / "link"
    link.symlink_to(box.workspace)
    path = box.home / "sessions" / "s1.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    spelt = json.dumps({**json.loads(first), "workspace": f"{tmp_path}/./workspace/../link"})
    path.write_text("".join([spelt, "\n", *rest]))

    with Client(box, "--workspace", str(box.workspace)) as client:
        assert client.load("s1", link).answer["result"] == {}


def test_loading_an_existing_session_after_new_and_a_second_load_are_refused(box: Box) -> None:
    spoken(box)
    params = {"sessionId": "s1", "cwd": str(box.workspace), "mcpServers": []}
    with Client(box) as client:
        client.open()
        assert ONE in refusal(client.call("session/load", params))[1]
    with Client(box) as client:
        client.load("s1")
        code, message = refusal(client.call("session/load", params))
        assert (code, ONE in message) == (-32600, True)
        assert ONE in refusal(new(client, box.workspace))[1]


def test_loading_an_existing_session_of_another_id_than_the_resumed_one_is_refused(
    box: Box,
) -> None:
    spoken(box)
    spoken(box, "s2")
    with Client(box, "--resume", "s1") as client:
        code, message = refusal(client.load("s2").answer)

        assert (code, ONE in message) == (-32600, True)
        assert client.load("s1").answer["result"] == {}


def test_loading_an_existing_session_of_a_session_that_is_open_elsewhere_is_refused(
    box: Box,
) -> None:
    with Client(box) as first:
        session = first.open()
        with Client(box) as second:
            code, message = refusal(second.load(session).answer)

    assert (code, "in use" in message) == (-32600, True)


def test_loading_an_existing_session_is_advertised(box: Box) -> None:
    with Client(box) as client:
        assert client.initialize()["agentCapabilities"]["loadSession"] is True


@pytest.mark.parametrize("cwd", ["", ".", "workspace", "/no/such/place", "/etc/passwd", "/a\0b"])
def test_loading_an_existing_session_needs_an_absolute_directory(box: Box, cwd: str) -> None:
    spoken(box)
    with Client(box) as client:
        client.initialize()
        params = {"sessionId": "s1", "cwd": cwd, "mcpServers": []}

        assert refusal(client.call("session/load", params))[0] == -32602
        assert client.load("s1").answer["result"] == {}


def test_loading_an_existing_session_with_a_cwd_that_is_not_the_workspace_is_refused(
    box: Box, tmp_path: Path
) -> None:
    spoken(box)
    with Client(box, "--workspace", str(box.workspace)) as client:
        code, message = refusal(client.load("s1", tmp_path).answer)

        assert (code, ONE in message) == (-32602, True)
        assert client.load("s1").answer["result"] == {}


def test_loading_an_existing_session_may_follow_a_refused_load(box: Box, tmp_path: Path) -> None:
    spoken(box)
    other = tmp_path / "other"
    other.mkdir()
    with Client(box, "--session-id", "theirs") as client:
        client.initialize()
        assert "result" in new(client, other)
    with Client(box) as client:
        assert str(other) in refusal(client.load("theirs").answer)[1]

        assert client.load("s1").answer["result"] == {}


def test_loading_an_existing_session_keeps_its_id(box: Box) -> None:
    spoken(box)
    box.play({"text": "More."})
    with Client(box, "--session-id", "unused") as client:
        client.load("s1")
        turn = client.turn("go on")

    assert {message["params"]["sessionId"] for message in turn.messages} == {"s1"}
    assert not box.home.joinpath("sessions", "unused.jsonl").exists()


def test_loading_an_existing_session_restores_no_grant(box: Box) -> None:
    guarded = {"tool_calls": [call("write", path=".radian/note", content="x")]}
    box.play(guarded, {"text": "Done."})
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        client.choose(client.question(), "allow_always")
        client.finish(running)
    box.play(guarded, {"text": "Done."})
    with Client(box) as client:
        client.load(session)
        running = client.prompt("again")
        client.choose(client.question(), "reject_once")

        assert client.finish(running).updates("tool_call_update")[-1]["status"] == "failed"
