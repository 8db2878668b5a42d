"""Section 5 of the page behind `radian`: keys, calls, tools; see `test_radian_seed`."""

from __future__ import annotations

import json
import signal
import termios
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.radian_page import far, of_type, talker
from tests.runtimes.models.servers import (
    GOOD,
    chat,
    events,
    model_server,
    silent_after,
    status,
    stream,
)
from tests.runtimes.radian.acp.client import call
from tests.runtimes.radian.box import Box, objects
from tests.runtimes.radian.terminal import at_terminal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return talker(tmp_path)


SOON = [("Retry-After", "0")]
RETRIED = (408, 409, 425, 429, 500, 501, 502, 503, 504, 529)


@pytest.mark.parametrize("code", [*RETRIED, 400, 401, 403, 404, 422, 505])
def test_s5_4_a_status_says_whether_a_call_is_made_again(box: Box, code: int) -> None:
    with model_server(status(code, {"error": {"message": "no"}}, SOON), GOOD) as server:
        run = box.run("exec", "-p", "x", "--output", "jsonl", *far(box, server.url))
        asked = len(server.requests)

    retries = of_type(run.stdout, "Retry")
    again = code in RETRIED
    assert (run.returncode == 0, asked) == (again, 1 + again)
    assert retries == [
        {"type": "Retry", "turn": 1, "call": 1, "attempt": 2, "delay_ms": 0,
         "cause": f"far: it answered {code}: no", "http_status": code}
    ] * again  # fmt: skip


def test_s5_4_five_attempts_are_all_and_each_is_told(box: Box) -> None:
    with model_server(status(503, {"error": {"message": "no"}}, SOON)) as server:
        run = box.run("exec", "-p", "x", "--output", "jsonl", *far(box, server.url))
        asked = len(server.requests)

    result = objects(run.stdout)[-1]
    assert (run.returncode, asked) == (75, 5)
    assert [each["attempt"] for each in of_type(run.stdout, "Retry")] == [2, 3, 4, 5]
    assert (result["run_metrics"]["retries"], result["run_metrics"]["model_calls"]) == (4, 1)


@pytest.mark.parametrize(
    ("headers", "body"),
    [([("Retry-After", "121")], {"message": "no"}), (SOON, {"code": "insufficient_quota"})],
    ids=["too long", "quota"],
)
def test_s5_4_what_waiting_can_not_mend_is_given_up_at_once(
    box: Box, headers: list[tuple[str, str]], body: dict[str, str]
) -> None:
    with model_server(status(429, {"error": body}, headers), GOOD) as server:
        run = box.run("exec", "-p", "x", "--output", "jsonl", *far(box, server.url))
        asked = len(server.requests)

    assert (asked, of_type(run.stdout, "Retry")) == (1, [])
    assert run.returncode == (75 if "message" in body else 5)


def test_s5_1_a_stream_that_falls_silent_is_given_up_after_its_timeout(box: Box) -> None:
    half = silent_after(events(chat({"content": "half"}), end=b""))
    with model_server(half, GOOD) as server:
        words = far(box, server.url, 'stream_idle_timeout = "2s"\n')
        run = box.run("exec", "-p", "x", "--output", "jsonl", *words)

    (retry,) = of_type(run.stdout, "Retry")
    assert "nothing came for" in retry["cause"]
    assert "http_status" not in retry
    assert [each["delta"] for each in of_type(run.stdout, "Text")] == ["half", "hello"]
    assert objects(run.stdout)[-1]["text"] == "hello"
    # What was shown of the first attempt is no message of the session.
    session = objects(run.stdout)[0]["session_id"]
    messages = [each for each in box.journal(session) if each["type"] == "AssistantMessage"]
    assert [each["parts"] for each in messages] == [[{"type": "text", "text": "hello"}]]


def test_s5_3_usage_is_asked_for_and_the_option_dropped_where_it_is_refused(box: Box) -> None:
    refusal = status(400, {"error": {"message": "unknown field stream_options"}})
    with model_server(refusal, GOOD) as server:
        run = box.run("exec", "-p", "x", *far(box, server.url))
        asked = [each.body.get("stream_options") for each in server.requests]

    assert (run.returncode, run.stdout) == (0, "hello\n")
    assert asked == [{"include_usage": True}, None]


def test_s5_3_think_tags_count_at_the_very_start_of_an_answer_only(box: Box) -> None:
    said = "<think>hm</think>Yes, <think>is a tag.</think>"
    with model_server(stream(events(chat({"content": said}), chat(finish="stop")))) as server:
        run = box.run("exec", "-p", "x", "--output", "jsonl", *far(box, server.url))

    assert objects(run.stdout)[-1]["text"] == "Yes, <think>is a tag.</think>"
    assert "".join(each["delta"] for each in of_type(run.stdout, "Reasoning")) == "hm"


@pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic", "gemini"])
def test_s5_1_no_key_is_taken_from_a_variable_that_nobody_named(
    box: Box, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for vendor in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "RADIAN", "FAR"):
        monkeypatch.setenv(f"{vendor}_API_KEY", "sk-from-the-environment")
    with model_server(GOOD) as server:
        words = far(box, server.url)
        config = box.home / "config.toml"
        text = config.read_text().replace('"openai-compatible"', f'"{kind}"')
        config.write_text(text.replace('credential = "none"\n', ""))
        run = box.run("exec", "-p", "x", *words)

        assert server.requests == []
    assert (run.returncode, run.stdout) == (11, "")
    assert "radian login far" in run.stderr


def test_s5_1_a_key_that_is_typed_is_not_shown(box: Box) -> None:
    box.configure('\n[providers.near]\nkind = "anthropic"\ncredential = "shared"\n')
    with at_terminal(box, "near", command="login") as terminal:
        terminal.wait_for("Key for shared: ")
        terminal.type("sk-typed-without-echo\n")
        shown = terminal.wait_for("The key shared is stored.")
        assert terminal.exit_code() == 0

    assert shown.strip() == ""
    stored = box.home.joinpath("credentials", "shared.json").read_bytes()
    assert stored == b'{"key":"sk-typed-without-echo"}'


@pytest.mark.parametrize(
    ("ending", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), ("\x04", 2)]
)
def test_s5_1_who_types_no_key_has_a_terminal_as_it_was(
    box: Box, ending: int | str, code: int
) -> None:
    with at_terminal(box, "openai", command="login") as terminal:
        terminal.wait_for("Key for openai: ")
        if isinstance(ending, str):
            terminal.type(ending)
        else:
            terminal.process.send_signal(ending)
        assert terminal.exit_code() == code

        modes = termios.tcgetattr(terminal.descriptor)
        assert modes[3] & termios.ECHO
    assert not box.home.joinpath("credentials").exists()


def test_s5_1_without_a_name_the_key_is_the_default_providers(box: Box) -> None:
    path = box.home / "config.toml"
    path.write_text('default_provider = "near"\n[providers.near]\nkind = "anthropic"\n')

    assert box.run("login", stdin="sk-a-key-of-a-pipe\n").stdout == "The key near is stored.\n"
    assert box.run("logout").stdout == "The key near is removed.\n"
    assert box.run("logout").stdout == "No key near was stored.\n"
    for command in ("login", "logout"):  # no name at all is a variable that nobody set
        run = box.run(command, "", stdin="sk-a-key-of-a-pipe\n")
        assert (run.returncode, run.stdout) == (2, "")
        assert "'' can't name a key" in run.stderr
    path.write_text("")
    for command in ("login", "logout"):
        run = box.run(command, stdin="sk-a-key-of-a-pipe\n")
        assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
        assert "which provider?" in run.stderr
    assert list(box.home.joinpath("credentials").iterdir()) == []


KEY = "sk-0123456789abcdef"


def test_s5_1_no_known_key_is_in_a_journal_whoever_said_it(box: Box) -> None:
    asked = {"path": "env", "content": f"KEY={KEY}\n"}
    function = {"name": "write", "arguments": json.dumps(asked)}
    told = [
        chat({"reasoning_content": f"The key is {KEY}."}),
        chat({"content": f"I write {KEY}."}),
        chat({"tool_calls": [{"index": 0, "id": "c", "function": function}]}),
        chat(finish="tool_calls", usage={"prompt_tokens": 1, "completion_tokens": 1, "by": KEY}),
    ]
    with model_server(stream(events(*told)), GOOD) as server:
        words = far(box, server.url)
        config = box.home / "config.toml"
        config.write_text(config.read_text().replace('credential = "none"\n', ""))
        assert box.run("login", "far", stdin=f"{KEY}\n").returncode == 0
        run = box.run("exec", "-p", f"put {KEY} into env", "--session-id", "s1", *words)
        sent = json.dumps(server.requests[1].body["messages"])

    assert (run.returncode, run.stdout) == (0, "hello\n")
    # What was asked for is done, and the model knows what it is about; what is kept tells nobody.
    assert box.workspace.joinpath("env").read_text() == asked["content"]
    assert KEY in sent
    assert KEY not in box.home.joinpath("sessions", "s1.jsonl").read_text()
    first = next(each for each in box.journal("s1") if each["type"] == "AssistantMessage")
    parts = [part for part in first["parts"] if part["type"] != "kept"]
    assert [part.get("text", part.get("input")) for part in parts] == [
        "The key is [secret].",
        "I write [secret].",
        {"path": "env", "content": "KEY=[secret]\n"},
    ]
    (message,) = [each for each in box.journal("s1") if each["type"] == "UserMessage"]
    assert message["content"] == [{"type": "text", "text": "put [secret] into env"}]


INPUTS = {
    "read": {"path", "offset?", "limit?"},
    "grep": {"pattern", "path?", "glob?", "ignore_case?", "limit?"},
    "glob": {"pattern", "path?"},
    "write": {"path", "content"},
    "patch": {"path", "old?", "new?", "all?", "edits?"},
    "shell": {"command", "timeout_ms?", "cwd?", "background?", "unsandboxed?", "reason?"},
    "job": {"action", "job_id?"},
    "subagent": {"prompt", "description?"},
    "ask_user": {"questions"},
    "todo": {"items"},
    "fetch": {"url", "max_bytes?"},
}
DENIED = {"read-only": {"write", "patch", "job", "fetch"}, "workspace": set[str](), "full": set()}


@pytest.mark.parametrize("profile", DENIED)
def test_s5_6_the_model_is_offered_these_tools_with_these_inputs(box: Box, profile: str) -> None:
    with model_server(GOOD) as server:
        words = far(box, server.url)
        assert box.run("exec", "-p", "x", "--profile", profile, *words).returncode == 0
        (asked,) = server.requests

    tools = [each["function"] for each in asked.body["tools"]]
    assert {each["name"]: inputs_of(each["parameters"]) for each in tools} == {
        name: inputs for name, inputs in INPUTS.items() if name not in DENIED[profile]
    }
    assert all(each["parameters"]["additionalProperties"] is False for each in tools)


KINDS = {
    "read": "read", "grep": "search", "glob": "search", "write": "edit", "patch": "edit",
    "shell": "execute", "job": "execute", "fetch": "fetch", "todo": "think", "subagent": "other",
    "ask_user": "other",
}  # fmt: skip


def test_s5_6_each_tool_has_its_kind(box: Box) -> None:
    used: dict[str, dict[str, Any]] = {
        "read": {"path": "a"}, "grep": {"pattern": "x"}, "glob": {"pattern": "*"},
        "write": {"path": "a", "content": "x"}, "patch": {"path": "a", "old": "x", "new": "y"},
        "shell": {"command": "true"}, "job": {"action": "list"}, "todo": {"items": []},
        "fetch": {"url": "http://127.0.0.1:9/"}, "subagent": {"prompt": "look"},
        "ask_user": {"questions": [{"question": "Why?"}]},
    }  # fmt: skip
    calls = [call(name, **values) for name, values in used.items()]
    box.play({"when": "look", "text": "Seen."}, {"tool_calls": calls}, {"text": "ok"})

    run = box.run("exec", "-p", "go", "--output", "jsonl", "--profile", "full")

    assert {each["name"]: each["kind"] for each in of_type(run.stdout, "ToolCall")} == KINDS


def inputs_of(schema: dict[str, Any]) -> set[str]:
    """Return the names of a tool's inputs, with a mark on those that may be absent."""
    needed = schema.get("required", ())
    return {name if name in needed else f"{name}?" for name in schema["properties"]}
