"""One process, one session: what `session/new` takes, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.acp.client import ONE, Client, call, new, refusal, spoken

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.radian.box import Box


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

    # Where radian's own folder lies is not the client's to know.
    assert message.startswith("no provider 'nobody' in RADIAN_HOME/config.toml; known: ")
    assert (code, str(box.home) in message) == (-32600, False)


def test_a_journal_that_is_damaged_is_named_without_the_way_to_it(box: Box) -> None:
    spoken(box)
    with (box.home / "sessions" / "s1.jsonl").open("r+b") as journal:
        journal.write(b"?")
    with Client(box, "--resume", "s1") as client:
        client.initialize()

        code, message = refusal(new(client, box.workspace))

    assert message.startswith("RADIAN_HOME/sessions/s1.jsonl:1: ")
    assert (code, str(box.home) in message) == (-32600, False)


def test_another_folder_than_the_workspace_is_refused_without_naming_that(
    box: Box, tmp_path: Path
) -> None:
    with Client(box, "--workspace", str(box.workspace)) as client:
        client.initialize()

        code, message = refusal(new(client, tmp_path))

    assert (code, message) == (
        -32602,
        "one process holds one session, and cwd is another directory than its workspace",
    )


def test_one_process_one_session_the_answer_has_the_id_and_nothing_else(box: Box) -> None:
    with Client(box) as client:
        client.initialize()
        answer = new(client, box.workspace)

    assert set(answer["result"]) == {"sessionId"}
    assert (
        answer["result"]["sessionId"] == box.journal(answer["result"]["sessionId"])[0]["session_id"]
    )


def test_one_process_one_session_ids_are_those_of_exec(box: Box) -> None:
    spoken(box)
    box.play({"text": "Yes."}, then="repeat-last")
    both = ("--resume", "s1", "--session-id", "other")
    result = json.loads(box.run("exec", "-p", "x", "--output", "json", *both).stdout)
    with Client(box, *both) as client:
        assert client.open() == result["session_id"] == "s1"
    with Client(box) as first, Client(box) as second:
        assert first.open() != second.open()


def test_one_process_one_session_resuming_compares_workspaces_as_directories(
    box: Box, tmp_path: Path
) -> None:
    spoken(box)
    link = tmp_path / "link"
    link.symlink_to(box.workspace)
    with Client(box, "--resume", "s1") as client:
        client.initialize()

        assert new(client, link)["result"] == {"sessionId": "s1"}


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
        assert client.exchange(b"") == []
        notice = client.stderr()
    with Client(box, "--trust") as client:
        client.open()

        assert client.stderr() == ""
    assert notice == box.run("exec", "-p", "-", stdin="hi").stderr
    assert notice.count("\n") == 1
    assert "not trusted" in notice
