"""One process, one session; loading an existing session; MCP servers; trust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.acp.client import Client, call, told

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.radian.box import Box

ONE = "one process holds one session"


def new(client: Client, cwd: object, servers: list[Any] | None = None) -> dict[str, Any]:
    params = {"cwd": str(cwd), "mcpServers": servers or []}
    return client.call("session/new", params)


def refusal(answer: dict[str, Any]) -> tuple[int, str]:
    return answer["error"]["code"], answer["error"]["message"]


def spoken(box: Box, session: str = "s1") -> None:
    """Have a session: a thought, a file that is made, and an answer."""
    box.play(
        {
            "reasoning": "Hm.",
            "text": "First.",
            "tool_calls": [call("write", path="a", content="1")],
        },
        {"tool_calls": [call("read", path="nowhere"), call("read", path="a")]},
        {"text": "Done."},
    )
    assert box.run("exec", "-p", "make it", "--session-id", session).returncode == 0


def test_methods_initialize_advertises_load_session_and_no_authentication(box: Box) -> None:
    with Client(box) as client:
        result = client.initialize()

    assert result["agentInfo"]["name"] == "radian"
    assert result["authMethods"] == []
    capabilities = result["agentCapabilities"]
    assert capabilities["loadSession"] is True
    assert capabilities["promptCapabilities"] == {
        "image": True,
        "audio": False,
        "embeddedContext": True,
    }


@pytest.mark.parametrize(
    "method",
    ["session/resume", "session/list", "session/close", "session/fork", "session/set_mode", "_x/y"],
)
def test_limits_a_method_that_is_not_implemented_is_not_found(box: Box, method: str) -> None:
    with Client(box) as client:
        client.open()
        params = {"sessionId": client.session, "cwd": "/", "mcpServers": []}

        assert client.call(method, params)["error"]["code"] == -32601


# --- one process, one session


def test_one_process_one_session_a_second_new_is_refused_and_the_first_goes_on(box: Box) -> None:
    box.play({"text": "Yes."})
    with Client(box) as client:
        client.open()

        code, message = refusal(new(client, box.workspace))

        assert (code, ONE in message) == (-32600, True)
        assert client.turn("there?").stop_reason == "end_turn"


def test_one_process_one_session_the_cwd_becomes_the_workspace(box: Box) -> None:
    box.play({"tool_calls": [call("write", path="here.txt", content="x")]}, {"text": "Done."})
    with Client(box) as client:
        session = client.open()
        client.turn("go")

    assert box.workspace.joinpath("here.txt").exists()
    assert box.journal(session)[0]["workspace"] == str(box.workspace)


def test_one_process_one_session_a_cwd_that_is_not_the_workspace_is_refused_and_a_new_may_follow(
    box: Box, tmp_path: Path
) -> None:
    with Client(box, "--workspace", str(box.workspace)) as client:
        client.initialize()

        code, message = refusal(new(client, tmp_path))

        assert (code, ONE in message) == (-32602, True)
        assert "result" in new(client, box.workspace)


def test_one_process_one_session_a_link_to_the_workspace_is_the_workspace(
    box: Box, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(box.workspace)
    with Client(box, "--workspace", str(box.workspace)) as client:
        client.initialize()

        assert "result" in new(client, f"{link}/.")


@pytest.mark.parametrize("cwd", ["", ".", "relative", "/no/such/place", "/etc/passwd", "/a\0b"])
def test_one_process_one_session_the_cwd_must_be_an_absolute_directory(box: Box, cwd: str) -> None:
    with Client(box) as client:
        client.initialize()

        assert refusal(new(client, cwd))[0] == -32602


def test_one_process_one_session_the_id_is_the_one_of_the_flag(box: Box) -> None:
    with Client(box, "--session-id", "mine") as client:
        assert client.open() == "mine"
    with Client(box, "--session-id", "mine") as client:
        client.initialize()

        code, message = refusal(new(client, box.workspace))

    assert (code, message) == (-32600, "session id mine is taken")


def test_one_process_one_session_resume_continues_the_journal_without_a_replay(box: Box) -> None:
    spoken(box)
    box.play({"text": "More."})
    with Client(box, "--resume", "s1") as client:
        client.initialize()
        asked = client.request("session/new", {"cwd": str(box.workspace), "mcpServers": []})
        (answer,) = client.answer(asked)
        client.session = answer["result"]["sessionId"]
        client.turn("go on")

    assert client.session == "s1"
    assert [each["turn"] for each in box.journal("s1") if each["type"] == "TurnEnded"] == [1, 2]


def test_one_process_one_session_resuming_a_missing_journal_is_an_error_of_new(box: Box) -> None:
    with Client(box, "--resume", "nowhere") as client:
        client.initialize()

        code, message = refusal(new(client, box.workspace))

    assert (code, "nowhere" in message) == (-32002, True)


def test_one_process_one_session_resuming_a_foreign_session_names_its_workspace(
    box: Box, tmp_path: Path
) -> None:
    spoken(box)
    other = tmp_path / "other"
    other.mkdir()
    with Client(box, "--resume", "s1") as client:
        client.initialize()

        code, message = refusal(new(client, other))

    assert (code, str(box.workspace) in message) == (-32602, True)


def test_a_configuration_that_is_wrong_is_an_error_of_new(box: Box) -> None:
    with Client(box, "--provider", "nobody") as client:
        client.initialize()

        code, message = refusal(new(client, box.workspace))

    assert (code, "no provider 'nobody'" in message) == (-32600, True)


# --- loading an existing session


def test_loading_an_existing_session_replays_the_transcript_in_order_and_then_answers(
    box: Box,
) -> None:
    spoken(box)
    with Client(box) as client:
        replayed = client.load("s1")

    assert replayed.answer["result"] == {}
    ids = [update["toolCallId"] for update in replayed.updates("tool_call")]
    assert len(set(ids)) == 3
    assert told(replayed) == [
        ("user_message_chunk", "make it"),
        ("agent_thought_chunk", "Hm."),
        ("agent_message_chunk", "First."),
        ("tool_call", ids[0], "pending"),
        ("tool_call_update", ids[0], "completed"),
        ("tool_call", ids[1], "pending"),
        ("tool_call", ids[2], "pending"),
        ("tool_call_update", ids[1], "failed"),
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


# --- MCP servers, trust


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ({"type": "http", "name": "h", "url": "http://x/", "headers": []}, "http"),
        ({"type": "sse", "name": "s", "url": "http://x/", "headers": []}, "sse"),
        ({"type": "acp", "name": "a", "id": "x"}, "acp"),
    ],
)
def test_mcp_servers_that_do_not_run_are_refused(
    box: Box, server: dict[str, Any], why: str
) -> None:
    with Client(box) as client:
        client.initialize()

        code, message = refusal(new(client, box.workspace, [server]))

        assert (code, why in message) == (-32602, True)
        assert "result" in new(client, box.workspace)


def test_trust_and_file_access_nobody_is_asked_and_an_unlisted_project_gets_a_notice(
    box: Box,
) -> None:
    box.home.joinpath("trust.json").unlink()
    with Client(box) as client:
        client.open()
        notice = client.stderr()
    with Client(box, "--trust") as client:
        client.open()

        assert client.stderr() == ""
    assert notice.count("\n") == 1
    assert "not trusted" in notice
