"""The server as a whole: what it is started with, where its words go, and whose agent it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from runtimes.radian.flags import CONVERSATION
from tests.runtimes.models.servers import GOOD, model_server
from tests.runtimes.radian.acp.client import Client, call
from tests.shared import ROOT

if TYPE_CHECKING:
    from tests.runtimes.radian.box import Box

KEY = "sk-0123456789abcdef"
EXAMPLE = ("--provider", "openai-compatible", "--model", "gpt-5", "--profile", "workspace")
TASK = (
    {"reasoning": "Hm.", "text": "First.", "tool_calls": [call("write", path="a", content="1")]},
    {"tool_calls": [call("read", path="nowhere"), call("shell", command="echo out; exit 3")]},
    {"tool_calls": [call("write", path=".radian/note", content="x")]},
    {"text": "Done.", "usage": {"input_tokens": 10, "output_tokens": 5}},
)
CHANGING = {"seq", "ts", "ms", "flags"}
"""What differs between two runs of the same task, one of them with `--yes`."""


def far(box: Box, base_url: str) -> None:
    box.configure(f'\n[providers.openai-compatible]\nkind = "openai-compatible"\n'
                  f'base_url = "{base_url}"\n')  # fmt: skip


def lasting(value: Any) -> Any:
    """Return a record without what differs each time."""
    if isinstance(value, dict):
        return {
            key: lasting(each)
            for key, each in value.items()
            if key not in CHANGING and not key.endswith("_ms")
        }
    return [lasting(each) for each in value] if isinstance(value, list) else value


def test_the_agent_client_protocol_server_it_is_the_agent_of_exec(box: Box) -> None:
    box.play(*TASK)
    assert box.run("exec", "-p", "go", "--yes", "--session-id", "s1").returncode == 0
    for name in ("a", ".radian/note"):
        box.workspace.joinpath(name).unlink()
    with Client(box, "--session-id", "s2") as client:
        client.open()
        running = client.prompt("go")
        client.choose(client.question(), "allow_once")
        client.finish(running)

    exec_records, acp_records = box.journal("s1"), box.journal("s2")
    assert [each["type"] for each in acp_records] == [each["type"] for each in exec_records]
    for ours, theirs in zip(acp_records, exec_records, strict=True):
        if ours["type"] not in {"SessionCreated", "PermissionDecided"}:
            assert lasting(ours) == lasting(theirs)


def test_the_agent_client_protocol_server_a_client_prompts_answers_and_sees_the_turn(
    box: Box,
) -> None:
    box.play(*TASK)
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        question = client.question()
        client.choose(question, question["params"]["options"][0]["optionId"])
        turn = client.finish(running)

    assert {message["method"] for message in turn.messages} == {"session/update"}
    assert turn.stop_reason == "end_turn"


@pytest.mark.parametrize("level", ["warning", "trace"])
def test_the_agent_client_protocol_server_stdout_has_messages_only_and_stderr_all_else(
    box: Box, level: str
) -> None:
    box.home.joinpath("trust.json").unlink()
    server = {"name": "gone", "command": "/no/such/server", "args": [], "env": []}
    box.play({"tool_calls": [call("shell", command="echo out; echo err >&2")]}, {"text": "Done."})
    with Client(box, "--log-level", level) as client:
        client.initialize()
        params = {"cwd": str(box.workspace), "mcpServers": [server]}
        client.session = client.call("session/new", params)["result"]["sessionId"]
        client.turn("go")
        client.send(b"nonsense\n")
        assert client.next()["error"]["code"] == -32700
        client.end_input()

        # What came before was judged line by line.
        assert client.drain() == []
        said = client.stderr()
    assert "not trusted" in said
    assert "'gone' did not start" in said


def test_the_agent_client_protocol_server_the_example_line_and_a_key_that_was_stored(
    box: Box,
) -> None:
    with model_server(GOOD) as server:
        far(box, server.url)
        with Client(box, *EXAMPLE, "--workspace", str(box.workspace)) as client:
            client.open()
            assert "radian login openai-compatible" in str(client.turn("hi").answer)
        assert server.requests == []
        assert box.run("login", "openai-compatible", stdin=f"{KEY}\n").returncode == 0

        with Client(box, *EXAMPLE, "--workspace", str(box.workspace)) as client:
            client.open()
            assert client.turn("hi").text == "hello"
        (asked,) = server.requests

    assert (asked.body["model"], asked.headers["authorization"]) == ("gpt-5", f"Bearer {KEY}")
    assert not any("key" in flag.name for flag in CONVERSATION)
    assert box.run("acp", "--api-key", KEY).returncode == 2


def test_the_agent_client_protocol_server_there_is_no_authentication(box: Box) -> None:
    with Client(box) as client:
        assert client.initialize()["authMethods"] == []

        refused = client.call("authenticate", {"methodId": "key"})

        assert refused["error"]["code"] == -32601


# --- the flags


def test_the_flags_have_one_page_that_explains_each(box: Box) -> None:
    page = ROOT.joinpath("docs", "exec.md").read_text(encoding="utf-8")
    help_text = box.run("acp", "--help").stdout

    for flag in CONVERSATION:
        assert flag.name in help_text
        assert f"`{flag.name}" in page


def test_the_flags_of_input_and_output_have_their_place_in_the_protocol(box: Box) -> None:
    box.play({"tool_calls": [call("write", path=".radian/note", content="x")]}, {"text": "Done."})
    with Client(box) as client:
        client.open()
        running = client.prompt("write it")
        client.choose(client.question(), "allow_once")
        turn = client.finish(running)

        assert (turn.text, turn.stop_reason) == ("Done.", "end_turn")
        messages = [each for each in box.journal(client.session) if each["type"] == "UserMessage"]
    assert messages[0]["content"][0]["text"] == "write it"


def test_the_flags_all_at_once_are_accepted_by_the_process(box: Box) -> None:
    values = {
        "--provider": "play", "--model": "script", "--workspace": str(box.workspace),
        "--profile": "workspace", "--session-id": "mine", "--mcp-config": '{"mcpServers": {}}',
        "--effort": "low", "--max-model-calls": "3", "--max-cost": "1.5",
        "--max-output-tokens": "100", "--turn-timeout": "30", "--allow": "shell(make *)",
        "--deny": "fetch", "--log-level": "debug", "--log-file": str(box.home / "log"),
    }  # fmt: skip
    # These two exclude others: what goes on has no new id, and providers are in the configuration.
    left_out = {"--resume", "--no-trust", "--no-user-config"}
    assert {flag.name for flag in CONVERSATION} == {*values, "--trust", *left_out}
    words = [word for pair in values.items() for word in pair]
    box.configure('\n[providers.play.models.script]\nprice_input = "1"\nprice_output = "2"\n')
    with Client(box, *words, "--trust") as client:
        assert client.open() == "mine"
        assert client.turn("hi").stop_reason == "end_turn"
        client.end_input()
        assert client.stderr() == "radian: warning: a script does not take --effort\n"
    words[words.index("--session-id")] = "--resume"
    with Client(box, *words, "--no-trust") as client:
        assert client.open() == "mine"


# --- trust and file access


def test_trust_and_file_access_flags_and_the_trust_file_decide(box: Box) -> None:
    box.workspace.joinpath("AGENTS.md").write_text("Say moo.\n")
    seen: dict[str, bool] = {}
    for name, flags, listed in (
        ("listed", (), True), ("unlisted", (), False),
        ("trusted by flag", ("--trust",), False), ("refused by flag", ("--no-trust",), True),
    ):  # fmt: skip
        box.trust(trusted=listed)
        with model_server(GOOD) as server:
            far(box, server.url)
            config = box.home / "config.toml"
            config.write_text(config.read_text().replace('credential = "none"\n', "")
                              + 'credential = "none"\n')  # fmt: skip
            with Client(box, *EXAMPLE, *flags) as client:
                client.open()
                client.turn("hi")
            seen[name] = "Say moo." in json.dumps(server.requests[0].body)
        config.write_text(config.read_text().split("\n[providers.openai-compatible]")[0])

    assert seen == {
        "listed": True,
        "unlisted": False,
        "trusted by flag": True,
        "refused by flag": False,
    }


def test_trust_and_file_access_a_client_that_offers_files_and_terminals_is_not_asked(
    box: Box,
) -> None:
    box.play(*TASK[:2], {"text": "Done."})
    offered = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    with Client(box) as client:
        hello = {"protocolVersion": 1, "clientCapabilities": offered}
        client.call("initialize", hello)
        client.new_session()
        turn = client.turn("go")

    assert {message["method"] for message in turn.messages} == {"session/update"}
    assert box.workspace.joinpath("a").read_text() == "1"


def test_trust_and_file_access_the_shell_has_the_rules_of_the_other_hosts(box: Box) -> None:
    outside = box.home.parent / "outside"
    written = f"echo x > {outside}; echo x > inside; test -e inside && echo kept"
    box.play({"tool_calls": [call("shell", command=written)]}, {"text": "Done."})
    box.run("exec", "-p", "go", "--session-id", "s1")
    box.workspace.joinpath("inside").unlink(missing_ok=True)
    with Client(box, "--session-id", "s2") as client:
        client.open()
        running = client.prompt("go")
        message = client.next()
        while message.get("id") != running:
            if "method" in message and "id" in message:  # where nothing can sandbox it, it asks
                client.choose(message, "reject_once")
            message = client.next()

    results = [
        next(each for each in box.journal(name) if each["type"] == "ToolResult")
        for name in ("s1", "s2")
    ]
    assert results[0]["status"] == results[1]["status"]
    assert not outside.exists()
