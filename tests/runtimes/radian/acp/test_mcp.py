"""MCP servers that a client brings: started with the session, asked for, ended with it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.actors.stepping import MARK, survivors, wait_gone
from tests.runtimes.radian.acp.client import Client, call
from tests.runtimes.radian.mcp.serving import STUB, log_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.runtimes.radian.box import Box

ECHO = {"tool_calls": [call("mcp__db__echo", text="hi")]}


@pytest.fixture
def mark() -> Iterator[str]:
    name = uuid4().hex
    yield name
    wait_gone(name)


def server(mark: str, mode: str = "good", name: str = "db", **env: str) -> dict[str, Any]:
    pairs = [{"name": key, "value": value} for key, value in {MARK: mark, **env}.items()]
    return {"name": name, "command": sys.executable, "args": [STUB, mode], "env": pairs}


def new(client: Client, *servers: dict[str, Any]) -> None:
    client.initialize()
    params = {"cwd": str(client.folder), "mcpServers": list(servers)}
    answer = client.call("session/new", params)
    assert "result" in answer, answer
    client.session = answer["result"]["sessionId"]


def outputs(turn: Any) -> list[str]:
    done = turn.updates("tool_call_update")
    return [each["rawOutput"]["output"] for each in done if "rawOutput" in each]


def test_mcp_servers_of_session_new_run_and_their_tools_are_called(box: Box, mark: str) -> None:
    box.play(ECHO, {"text": "Done."})
    with Client(box, "--profile", "full") as client:
        new(client, server(mark))
        turn = client.turn("go")

    assert (turn.stop_reason, outputs(turn)) == ("end_turn", ["hi"])
    (shown,) = turn.updates("tool_call")
    assert (shown["title"], shown["kind"]) == ("db: Say it again", "other")
    assert survivors(mark) == []


def test_mcp_servers_a_duplicate_id_keeps_the_clients_entry_and_prints_one_warning(
    box: Box, mark: str
) -> None:
    box.play(ECHO, {"text": "Done."})
    other = json.dumps({"mcpServers": {"db": {"command": "/no/such/server"}}})
    box.configure('\n[mcp_servers.db]\ncommand = "/no/such/server"\n')
    with Client(box, "--profile", "full", "--mcp-config", other) as client:
        new(client, server(mark))
        turn = client.turn("go")
        said = client.stderr()

    assert outputs(turn) == ["hi"]
    assert said.count("\n") == 1
    assert "'db' is configured more than once; the entry of session/new is used" in said


def test_mcp_servers_are_merged_at_the_level_of_the_flag(box: Box, mark: str) -> None:
    box.play(
        {"tool_calls": [call("mcp__flag__echo", text="1"), call("mcp__own__echo", text="2")]},
        {"text": "Done."},
    )
    given = server(mark)
    entry = {"command": given["command"], "args": given["args"], "env": {MARK: mark}}
    flag = json.dumps({"mcpServers": {"flag": entry}})
    with Client(box, "--profile", "full", "--mcp-config", flag) as client:
        new(client, server(mark, name="own"))

        assert outputs(client.turn("go")) == ["1", "2"]


def test_mcp_servers_of_session_load_run_too(box: Box, mark: str) -> None:
    box.play({"text": "First."})
    assert box.run("exec", "-p", "x", "--session-id", "s1").returncode == 0
    box.play(ECHO, {"text": "Done."})
    with Client(box, "--profile", "full") as client:
        client.initialize()
        client.session = "s1"
        params = {"sessionId": "s1", "cwd": str(box.workspace), "mcpServers": [server(mark)]}
        client.finish(client.request("session/load", params))

        assert outputs(client.turn("go")) == ["hi"]


def test_a_refused_session_starts_no_server(box: Box, mark: str) -> None:
    log = box.home / "log"
    with Client(box) as client:
        client.initialize()
        remote = {"type": "http", "name": "h", "url": "http://x/", "headers": []}
        params = {
            "cwd": str(box.workspace),
            "mcpServers": [server(mark, STUB_LOG=str(log)), remote],
        }

        assert client.call("session/new", params)["error"]["code"] == -32602
    assert not log.exists()


def test_a_call_is_asked_for_and_always_means_this_tool(box: Box, mark: str) -> None:
    fail = {"tool_calls": [call("mcp__db__fail")]}
    box.play(ECHO, ECHO, fail, {"text": "Done."})
    with Client(box) as client:
        new(client, server(mark))
        asked = client.request(
            "session/prompt",
            {"sessionId": client.session, "prompt": [{"type": "text", "text": "go"}]},
        )
        first = client.question()
        client.choose(first, "allow_always")
        second = client.question()  # of the other tool: the same one is not asked for again
        client.choose(second, "reject_once")
        turn = client.finish(asked)

    assert first["params"]["toolCall"]["title"] == "db: Say it again"
    names = [each["name"] for each in first["params"]["options"]]
    assert names[1] == "Always allow db/echo (MCP) (until this process ends)"
    assert second["params"]["toolCall"]["title"] == "db: fail"
    assert turn.stop_reason == "end_turn"
    assert outputs(turn)[-1] == "not allowed: the user rejected it"


def test_a_cancel_ends_a_call_and_the_server_hears_of_it(box: Box, mark: str) -> None:
    log = box.home / "log"
    box.play({"tool_calls": [call("mcp__db__hang")]}, {"text": "Done."})
    with Client(box, "--profile", "full") as client:
        new(client, server(mark, STUB_LOG=str(log)))
        asked = client.request(
            "session/prompt",
            {"sessionId": client.session, "prompt": [{"type": "text", "text": "go"}]},
        )
        client.until(lambda message: "tool_call" in json.dumps(message))
        client.cancel()

        assert client.finish(asked).stop_reason == "cancelled"
    methods = [each["method"] for each in log_of(log)]
    assert "tools/call" not in methods or "notifications/cancelled" in methods


def test_a_silent_server_does_not_hold_up_session_new_and_is_named(box: Box, mark: str) -> None:
    box.play(ECHO, {"text": "Done."})
    with Client(box, "--profile", "full") as client:
        new(client, server(mark, "exit", name="bad"), server(mark))
        turn = client.turn("go")
        said = client.stderr()

    assert outputs(turn) == ["hi"]
    assert said.count("MCP server 'bad' did not start: it exited with code 3: no database") == 1
    thoughts = [each["content"]["text"] for each in turn.updates("agent_thought_chunk")]
    assert any("'bad' did not start" in each for each in thoughts)


def test_the_end_of_input_ends_all_servers(box: Box, mark: str) -> None:
    with Client(box) as client:
        new(client, server(mark), server(mark, "mute", name="mute"), server(mark, "child", "kids"))

    assert survivors(mark) == []


def test_a_cancel_ends_the_wait_for_a_silent_server(box: Box, mark: str) -> None:
    with Client(box) as client:
        new(client, server(mark, "mute"))
        asked = client.request(
            "session/prompt",
            {"sessionId": client.session, "prompt": [{"type": "text", "text": "go"}]},
        )
        client.cancel()

        assert client.finish(asked).stop_reason == "cancelled"


@pytest.mark.slow  # the bound itself: ten seconds
def test_a_server_that_never_answers_is_named_and_the_turn_goes_on_without_it(
    box: Box, mark: str
) -> None:
    box.play(ECHO, {"text": "Done."})
    with Client(box, "--profile", "full") as client:
        new(client, server(mark, "mute", name="mute"), server(mark))
        turn = client.turn("go")
        said = client.stderr()

    assert outputs(turn) == ["hi"]
    assert "MCP server 'mute' is not ready after 10 s" in said
