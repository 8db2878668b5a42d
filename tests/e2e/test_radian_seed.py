"""Decisions of the page behind `radian`, held where no test nearer to the code holds them.

Sentences of the seed have an index, `runtimes/radian/acp/seed_index.py`; what it does not hold is
here, in tests that begin with `test_seed`.  The page is `spec/radian.md` of the shared data, and a
test begins with the section that it stands for.  Its other decisions are held by (in
`runtimes/radian`, if nothing else is said):

1.1  same flags and defaults for exec and acp: `acp/test_flags`, `test_flags`; what is refused, and
     with which code: `test_exit_table`; trust for one process: `test_exec_project`; later MCP
     entries win: `test_exec_mcp`; the log: `test_log_flags`
1.2  -p, pipes, --yes: `test_exec`; what does not go together, --out, --force, other workspaces:
     `test_exec_printing`; list, search, export, fork: `test_sessions`, `test_session_search`,
     `test_session_export`, `test_session_fork`; the line prompt: `test_line_prompt`
1.3  every row: `test_exit_table`; several turns: `test_line_prompt_wakes`; a second SIGINT:
     `reported/test_exec`; jobs at the end: `test_exec_jobs`
2.3  values: `test_fold`, `test_subagent_records`
2.4  writing, reading, healing: `test_journal`, `test_journal_read`, `test_transcript`,
     `reported/test_sessions`; each type and key: `test_record_json`, `test_journal_guide`
3    `test_fold`, `acp/test_meta`, `acp/test_wakes`, `test_exec_compaction`
4.1  `test_permissions`, `test_wrapped_commands`, `test_shell_words`, `acp/test_questions`
4.3  `tools/test_sandbox`, `tools/test_shell`
4.4  `test_trust`, `test_hook_traps`, `test_project_config`
4.5  `test_exec_hooks`, `test_hook_answers`, `test_hook_run`
5.1  `test_unused_config`, `../models/test_config_table`, `../models/test_credentials`, the script:
     `../models/test_scripted`
5.2  `../models/test_streams`, `../models/test_recordings`
5.3  `../models/test_usage`, `../models/test_pricing`
5.4  `../models/test_provider_faults`, `../models/test_calling`, `acp/test_turns`
5.5  `test_turn_state`, `acp/test_meta`
5.6  `tools/`, `test_tool_round`, `acp/test_shown`
6    `acp/test_start_up`, `../models/test_start_up`, `bench/`
"""

from __future__ import annotations

import json
import re
import stat
import subprocess
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from protocol.methods import METHODS
from runtimes.version import VERSION
from tests.e2e.talk import HELLO
from tests.e2e.wire import line
from tests.runtimes.models.servers import (
    GOOD,
    chat,
    events,
    model_server,
    silent_after,
    status,
    stream,
)
from tests.runtimes.radian.acp.client import ONE, Client, call, new, refusal
from tests.runtimes.radian.box import Box, make_box, objects
from tests.runtimes.radian.terminal import at_terminal
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
OUTPUTS = ("text", "json", "jsonl")

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
SOON = [("Retry-After", "0")]


def far(box: Box, url: str, more: str = "") -> tuple[str, ...]:
    """Have a provider at an address, and return the flags that call it."""
    text = box.home.joinpath("config.toml").read_text().partition("\n[providers.far]")[0]
    box.home.joinpath("config.toml").write_text(
        f'{text}\n[providers.far]\nkind = "openai-compatible"\nbase_url = "{url}"\n'
        f'credential = "none"\ndefault_model = "m"\n{more}'
    )
    return ("--provider", "far")


def of_type(stdout: str, kind: str) -> list[dict[str, Any]]:
    return [each for each in objects(stdout) if each["type"] == kind]


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_box(tmp_path)
    box.play({"text": "ok"}, then="repeat-last")
    return box


# --- 1.1 conversation flags


@pytest.mark.parametrize("output", OUTPUTS)
def test_s1_1_resume_wins_and_another_id_gets_one_warning_on_stderr(box: Box, output: str) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "one").returncode == 0

    words = ("exec", "-p", "y", "--resume", "one", "--output", output)
    other = box.run(*words, "--session-id", "two")
    same = box.run(*words, "--session-id", "one")

    assert other.returncode == 0
    assert other.stderr == "warning: --session-id two is ignored: --resume goes on\n"
    assert (same.returncode, same.stderr) == (0, "")
    assert [each["turn"] for each in box.journal("one") if each["type"] == "TurnEnded"] == [1, 2, 3]
    assert not box.home.joinpath("sessions", "two.jsonl").exists()


@pytest.mark.parametrize("output", OUTPUTS)
def test_s2_4_a_torn_last_line_is_warned_of_once_whatever_the_output(box: Box, output: str) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "one").returncode == 0
    path = box.home / "sessions" / "one.jsonl"
    path.write_bytes(path.read_bytes() + b'{"torn')

    words = ("exec", "-p", "y", "--resume", "one", "--output", output)
    torn, whole = box.run(*words), box.run(*words)

    assert (torn.returncode, torn.stderr.count("\n")) == (0, 1)
    assert "the last line is torn" in torn.stderr
    assert (whole.returncode, whole.stderr) == (0, "")


def test_s2_4_a_run_tells_the_flags_that_matter_and_no_key(box: Box) -> None:
    box.configure('\n[providers.play.models.script]\nprice_input = "1"\nprice_output = "2"\n')
    given = ("--allow", "shell(make *)", "--deny", "fetch", "--deny", "job", "--max-cost", "0.5")
    limits = ("--max-model-calls", "0", "--max-output-tokens", "9", "--turn-timeout", "30.5")

    box.run("exec", "-p", "x", "--session-id", "one")
    box.run("exec", "-p", "x", "--resume", "one", "--yes", *given, *limits)
    with Client(box, "--resume", "one", "--max-model-calls", "7", "--effort", "low") as client:
        client.open()

    runs = [each for each in box.journal("one") if each["type"] == "RunStarted"]
    assert [each.get("flags") for each in runs] == [
        None,
        {
            "max_model_calls": 0,
            "max_cost_micros": 500_000,
            "max_output_tokens": 9,
            "turn_timeout_ms": 30_500,
            "allow": ["shell(make *)"],
            "deny": ["fetch", "job"],
            "yes": True,
        },
        {"max_model_calls": 7},
    ]
    assert [each.get("effort") for each in runs] == [None, None, "low"]
    assert all(each["provider"] == "play" and each["trusted"] for each in runs)


def test_s1_1_a_generated_id_is_a_uuid_of_version_7_and_ids_have_limits(box: Box) -> None:
    made = objects(box.run("exec", "-p", "x", "--output", "json").stdout)[0]["session_id"]
    longest = box.run("exec", "-p", "x", "--session-id", "a.b_c-" + "d" * 122)
    codes = {
        each: box.run("exec", "-p", "x", f"--session-id={each}").returncode
        for each in ("a" * 129, ".a", "-a", "_a", "a/b", "é", "", "A.B_C-" + "d" * 122)
    }

    assert UUID(made).version == 7
    assert longest.returncode == 0
    assert list(codes.values()) == [2] * 7 + [10]


def test_s1_1_two_hundred_calls_are_a_turns_limit_and_zero_is_none(box: Box) -> None:
    more = {"tool_calls": [call("todo", items=[])]}
    ends: list[tuple[Any, ...]] = []
    for flags in ((), ("--max-model-calls", "0")):
        box.play(*[more] * 205, {"text": "end"})
        run = box.run("exec", "-p", "x", "--output", "json", *flags)
        result = objects(run.stdout)[0]
        ends.append((run.returncode, result.get("reason"), result["run_metrics"]["model_calls"]))

    assert ends == [(4, "model_calls", 200), (0, None, 206)]


@pytest.mark.parametrize("output", OUTPUTS)
def test_s1_1_an_effort_without_effect_is_warned_of_once(box: Box, output: str) -> None:
    refusal = status(400, {"error": {"message": "unknown field reasoning_effort"}})
    called = [chat({"tool_calls": [{"index": 0, "id": "c", "function":
                                    {"name": "todo", "arguments": '{"items": []}'}}]}),
              chat(finish="tool_calls")]  # fmt: skip
    words = ("exec", "-p", "x", "--effort", "high", "--output", output)
    with model_server(refusal, stream(events(*called)), GOOD) as server:
        refused = box.run(*words, *far(box, server.url))
        asked = [each.body.get("reasoning_effort") for each in server.requests]
    box.play({"tool_calls": [call("todo", items=[])]}, {"text": "ok"})
    played = box.run(*words)

    assert (refused.returncode, played.returncode) == (0, 0)
    assert asked == ["high", None, None]
    said = "warning: far: the provider does not take --effort for this model\n"
    assert refused.stderr.count(said) == refused.stderr.count("warning: ") == 1
    assert played.stderr.count("warning: a script does not take --effort\n") == 1
    assert played.stderr.count("warning: ") == 1


def test_s1_1_a_limit_of_tokens_goes_with_each_call(box: Box) -> None:
    with model_server(GOOD) as server:
        words = ("exec", "-p", "x", *far(box, server.url))
        assert box.run(*words, "--max-output-tokens", "77").returncode == 0
        assert box.run(*words).returncode == 0
        limits = [each.body.get("max_tokens") for each in server.requests]

    assert limits == [77, None]


def test_s1_1_a_hermetic_run_has_nothing_of_the_persons(box: Box) -> None:
    veto = '["/bin/sh", "-c", "exit 7"]'
    box.configure(f'\n[[hooks]]\nevent = "user_prompt"\ncommand = {veto}\nrequired = true\n')
    words = ("exec", "-p", "x", "--provider", "openai", "--model", "m")

    assert box.run(*words).returncode == 5  # the hook fails the turn
    run = box.run(*words, "--no-user-config")
    assert (run.returncode, run.stdout) == (11, "")
    assert "radian login openai" in run.stderr
    unknown = box.run("exec", "-p", "x", "--no-user-config", "--provider", "play")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (2, 1)
    assert "known: openai, anthropic, gemini" in unknown.stderr


# --- 1.2 flags of exec alone


def test_s1_2_a_prompt_of_stdin_is_utf_8_of_at_most_64_mib(box: Box) -> None:
    seen: list[tuple[int, bytes, bytes]] = []
    for data in (b"\xff\xfe x", b" \n\t", b"x" * (64 * MIB + 1), b"x" * (64 * MIB)):
        run = subprocess.run(
            [script("radian"), "exec", "-p", "-"], cwd=box.workspace, env=box.environ,
            input=data, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        seen.append((run.returncode, run.stdout, run.stderr))

    assert seen == [
        (2, b"", b"radian exec: the prompt is no UTF-8: byte 0\n"),
        (2, b"", b"radian exec: the prompt is empty\n"),
        (2, b"", b"radian exec: the prompt is longer than 67108864 bytes\n"),
        (0, b"ok\n", b""),
    ]


def test_s1_2_pictures_are_known_by_content_and_have_20_mib_at_most(box: Box) -> None:
    png = b"\x89PNG\r\n\x1a\n"
    heads = {
        "a.txt": png, "b.png": b"\xff\xd8\xff\xe0", "c": b"GIF89a",
        "d.gif": b"RIFF\x10\0\0\0WEBPVP8 ", "big.png": png, "e.png": b"BM",
    }  # fmt: skip
    sizes = {"a.txt": 20 * MIB, "big.png": 20 * MIB + 1}
    for name, head in heads.items():
        box.workspace.joinpath(name).write_bytes(head.ljust(sizes.get(name, 40), b"\0"))

    fine = [word for name in list(heads)[:4] for word in ("--image", name)]
    assert box.run("exec", "-p", "x", "--session-id", "s1", *fine).returncode == 0
    (asked,) = [each for each in box.journal("s1") if each["type"] == "UserMessage"]
    kinds = [part["mime_type"] for part in asked["content"] if part["type"] == "image"]
    assert kinds == ["image/png", "image/jpeg", "image/gif", "image/webp"]
    for name, said in (("big.png", "more than 20971520 bytes"), ("e.png", "is no picture")):
        run = box.run("exec", "-p", "x", "--image", name)
        assert (run.returncode, run.stdout, said in run.stderr) == (2, "", True)
    assert box.run("exec", "--image", "a.txt").returncode == 2  # a picture needs a prompt


def test_s1_2_a_fork_takes_all_up_to_the_last_ended_turn_and_calls_no_model(box: Box) -> None:
    for number in (1, 2):
        flag = "--session-id" if number == 1 else "--resume"
        assert box.run("exec", "-p", f"turn {number}", flag, "s1").returncode == 0
    path = box.home / "sessions" / "s1.jsonl"
    *rest, last = path.read_text().splitlines(keepends=True)
    assert '"TurnEnded"' in last
    path.write_text("".join(rest))  # as a process leaves it that was killed
    box.home.joinpath("turns.json").unlink()

    forked = box.run("exec", "--fork", "s1").stdout.strip()

    assert UUID(forked).version == 7
    assert [each["turn"] for each in box.journal(forked) if each["type"] == "TurnStarted"] == [1]
    parent = box.journal(forked)[0]["parent"]
    assert (parent["session_id"], box.journal("s1")[parent["seq"] - 1]["type"]) == (
        "s1",
        "TurnEnded",
    )


def test_s1_2_an_export_that_can_not_be_written_names_the_place_and_leaves_nothing(
    box: Box,
) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "s1").returncode == 0
    folder = box.workspace / "reports"
    folder.mkdir()

    run = box.run("exec", "--export", "s1", "--out", "reports", "--force")

    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == f"radian exec: Is a directory: {folder}\n"
    assert list(box.workspace.iterdir()) == [folder]


def test_s1_2_a_session_that_is_open_elsewhere_can_be_read_and_forked(box: Box) -> None:
    with Client(box, "--session-id", "live") as client:
        client.open()
        client.turn("hi")
        commands = {
            each: box.run("exec", *each).returncode
            for each in (("--export", "live"), ("--fork", "live"), ("--list",), ("--search", "hi"))
        }
        taken = [box.run("exec", "-p", "x", flag, "live") for flag in ("--resume", "--session-id")]
        assert client.turn("still mine").stop_reason == "end_turn"

    assert set(commands.values()) == {0}, commands
    assert [each.returncode for each in taken] == [10, 10]
    assert all("session live is in use" in each.stderr for each in taken)


def test_s2_4_a_bad_line_is_named_but_lists_and_searches_pass_over_it(box: Box) -> None:
    for name in ("one", "two"):
        assert box.run("exec", "-p", f"look for {name}", "--session-id", name).returncode == 0
    assert box.run("exec", "-p", "once more", "--resume", "one").returncode == 0
    path = box.home / "sessions" / "one.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:3], "no JSON\n", *lines[3:]]))

    listed = objects(box.run("exec", "--list", "--format", "jsonl").stdout)
    found = objects(box.run("exec", "--search", "LOOK one", "--format", "jsonl").stdout)
    export = box.run("exec", "--export", "one")

    # The session that was used last comes first.
    assert [each["session_id"] for each in listed] == ["one", "two"]
    assert [(each["session_id"], each["turn"], each["excerpt"]) for each in found] == [
        ("one", 1, "look for one")
    ]
    assert (export.returncode, export.stdout) == (10, "")
    assert f"{path}:4: is no record" in export.stderr


@pytest.mark.parametrize("output", OUTPUTS)
def test_s1_2_a_question_is_put_at_the_terminal_whatever_the_output(box: Box, output: str) -> None:
    question = {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}
    box.play({"tool_calls": [call("ask_user", questions=[question])]}, {"text": "I see."})

    with at_terminal(box, "--session-id", "s1", "--output", output) as terminal:
        terminal.wait_for("> ")
        terminal.type("go\n")
        terminal.wait_for("? Which colour?")
        terminal.wait_for("2. blue")
        terminal.type("2\n")
        terminal.wait_for("I see.")

    answers = [each["option"] for each in box.journal("s1") if each["type"] == "QuestionAnswered"]
    assert answers == ["blue"]


# --- 2 records


PRICED = """
[providers.play.models.script]
price_input = "1"
price_output = "2"
price_cache_read = "0.1"
context_window = 1000
"""
USED = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_tokens": 4,
    "cache_write_tokens": 2,
    "reasoning_tokens": 3,
}
COUNTED = {**USED, "context_window": 1000}


def test_s2_1_the_stream_of_a_turn_object_by_object(box: Box) -> None:
    box.configure(PRICED)
    command = call("shell", command="echo hi")
    box.play(
        {"reasoning": "Hm.", "text": "Look.", "usage": USED,
         "tool_calls": [command, call("write", path="/etc/x", content="1")]},
        {"error": {"status": 503, "message": "busy", "retry_after_s": 0}},
        {"text": "Done.", "usage": USED},
    )  # fmt: skip

    words = ("--output", "jsonl", "--session-id", "s1", "--profile", "full")
    run = box.run("exec", "-p", "go", *words)

    here = str(box.workspace)
    outside = "/etc/x lies outside of where files may be written: " + here
    first, second = {"turn": 1, "call_id": "call-1"}, {"turn": 1, "call_id": "call-2"}
    assert (run.returncode, run.stderr) == (0, "")
    *stream_of_turn, result = objects(run.stdout)
    assert stream_of_turn == [
        {"type": "SessionStarted", "schema": 1, "session_id": "s1", "workspace": here,
         "provider": "play", "model": "script", "profile": "full", "trusted": True,
         "resumed": False, "version": VERSION},
        {"type": "TurnStarted", "turn": 1, "origin": "prompt"},
        {"type": "Reasoning", "turn": 1, "call": 1, "delta": "Hm."},
        {"type": "Text", "turn": 1, "call": 1, "delta": "Look."},
        {"type": "Usage", "turn": 1, "call": 1, **COUNTED},
        {"type": "ToolCall", **first, "name": "shell", "title": "echo hi", "kind": "execute",
         "locations": [], "input": {"command": "echo hi", "cwd": here}},
        {"type": "Permission", **first, "decision": "allow_once", "source": "profile"},
        {"type": "ToolOutput", **first, "delta": "hi\n"},
        {"type": "ToolResult", **first, "status": "completed", "output": "hi\n"},
        {"type": "ToolCall", **second, "name": "write", "title": "Write /etc/x", "kind": "edit",
         "locations": [{"path": "/etc/x"}], "input": {"path": "/etc/x", "content": "1"}},
        {"type": "Permission", **second, "decision": "deny", "source": "profile",
         "reason": outside},
        {"type": "ToolResult", **second, "status": "failed", "output": f"not allowed: {outside}",
         "reason": "denied"},
        {"type": "Retry", "turn": 1, "call": 2, "attempt": 2, "delay_ms": 0, "cause": "busy",
         "http_status": 503},
        {"type": "Text", "turn": 1, "call": 2, "delta": "Done."},
        {"type": "Usage", "turn": 1, "call": 2, **COUNTED},
        {"type": "TurnEnded", "turn": 1, "end": "Completed"},
    ]  # fmt: skip
    metrics = result.pop("run_metrics")
    assert result == {
        "type": "Result", "schema": 1, "session_id": "s1", "turn": 1, "status": "completed",
        "exit_code": 0, "stop_reason": "end_turn", "text": "Done.",
        "cost": {"micros": 32, "incomplete": False, "estimated": False},
        "permission_denials": [{"call_id": "call-2", "tool": "write", "reason": outside}],
        "journal": str(box.home / "sessions" / "s1.jsonl"),
    }  # fmt: skip
    times = {name: metrics.pop(name) for name in list(metrics) if name.endswith("_ms")}
    # Nothing was asked: there is no `wait_ms`.
    assert set(times) == {"wall_ms", "model_ms", "ttft_ms", "tool_ms"}
    assert all(type(each) is int for each in times.values())
    assert metrics == {
        "model_calls": 2, "retries": 1, "tool_calls": 2, "tool_failures": 1, "tool_denials": 1,
        "compactions": 0, **{name: 2 * count for name, count in USED.items()},
        "context_tokens": 15, "context_window": 1000,
    }  # fmt: skip


def test_s2_2_a_result_has_no_key_that_is_not_known(box: Box) -> None:
    run = box.run("exec", "-p", "go", "--output", "json", "--session-id", "s1")

    (result,) = objects(run.stdout)
    assert result["cost"] is None  # the one null
    assert set(result) == {
        "type", "schema", "session_id", "turn", "status", "exit_code", "stop_reason", "text",
        "cost", "run_metrics", "journal",
    }  # fmt: skip
    assert set(result["run_metrics"]) == {
        "model_calls", "retries", "tool_calls", "tool_failures", "tool_denials", "compactions",
        "wall_ms", "model_ms", "ttft_ms", "usage_missing_calls",
    }  # fmt: skip


def test_s2_1_output_of_a_command_is_shown_up_to_a_bound_and_kept_whole(box: Box) -> None:
    size = 3_000_000
    box.play({"tool_calls": [call("shell", command=f"yes | head -c {size}")]}, {"text": "ok"})

    words = ("--output", "jsonl", "--session-id", "s1", "--profile", "full")
    run = box.run("exec", "-p", "go", *words)

    shown = "".join(each["delta"] for each in of_type(run.stdout, "ToolOutput"))
    (result,) = of_type(run.stdout, "ToolResult")
    assert len(shown) == 256 * 1024
    assert len(result["output"]) < 64 * 1024
    (kept,) = box.home.joinpath("sessions", "s1.files").iterdir()
    assert kept.stat().st_size == size


def test_s2_1_each_end_of_a_job_is_told_with_its_code(box: Box) -> None:
    until = "while ! test -e go; do sleep 0.01; done; exit 3"
    box.play(
        {"when": "exit code 3", "text": "Seen."},
        {"tool_calls": [call("shell", command=until, background=True)]},
        # Again and again, until it is told of the end.
        {"tool_calls": [call("shell", command="touch go; sleep 0.05")]},
        then="repeat-last",
    )

    run = box.run("exec", "-p", "go", "--output", "jsonl", "--profile", "full")

    assert of_type(run.stdout, "Job") == [
        {"type": "Job", "job_id": "job-1", "state": "running"},
        {"type": "Job", "job_id": "job-1", "state": "exited", "exit_code": 3},
    ]
    assert objects(run.stdout)[-1]["run_metrics"]["jobs_started"] == 1


# --- the seed, where more is said than its index holds


SERVED = {"initialize", "session/new", "session/load", "session/prompt"}
"""The requests that the page names; `session/cancel` is a notification."""


def test_seed_exactly_the_methods_of_the_page_are_served(box: Box) -> None:
    others = {each.name for each in METHODS.values() if each.kind == "request"} - SERVED
    unstable = {"session/set_model", "session/fork", "session/inject", "_radian/anything", ""}
    with Client(box) as client:
        client.open()
        params = {"sessionId": client.session, "cwd": str(box.workspace), "mcpServers": []}
        codes = {
            name: client.call(name, params).get("error", {}).get("code")
            for name in sorted(others | unstable)
        }

        assert set(codes.values()) == {-32601}, codes
        assert client.turn("still there?").stop_reason == "end_turn"


def test_seed_the_short_form_of_the_prompts_flag_is_absent_too(box: Box) -> None:
    run = box.run("acp", "-p", "-")

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("radian acp: no such flag: -p")


def test_seed_of_requests_that_come_at_once_one_opens_the_session(box: Box) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "s1").returncode == 0
    params = {"cwd": str(box.workspace), "mcpServers": []}
    with Client(box) as client:
        client.initialize()
        ids = [
            client.request("session/new", {**params, "cwd": "/no/such/place"}),
            client.request("session/new", params),
            client.request("session/new", params),
            client.request("session/load", {**params, "sessionId": "s1"}),
        ]
        answers = client.answers_to(*ids)
        bad, first, second, load = (answers[each] for each in ids)

        assert refusal(bad)[0] == -32602
        assert set(first["result"]) == {"sessionId"}
        assert [ONE in refusal(each)[1] for each in (second, load)] == [True, True]
    assert len(list(box.home.glob("sessions/*.jsonl"))) == 2


def kept(folder: Path) -> dict[str, tuple[int, int]]:
    """Return all that lies in a folder, with sizes and times of change."""
    found = {str(path): path.stat() for path in folder.rglob("*")}
    return {path: (each.st_size, each.st_mtime_ns) for path, each in found.items()}


@pytest.mark.parametrize("flags", [(), ("--resume", "s1")], ids=["load", "new and load"])
def test_seed_a_session_of_another_workspace_is_refused_and_nothing_at_all_is_written(
    box: Box, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "s1").returncode == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    before = kept(tmp_path)
    with Client(box, *flags) as client:
        refused = [client.load("s1", elsewhere).answer]
        refused += [new(client, elsewhere)] if flags else []

        said = f"session s1 belongs to workspace {box.workspace}, not to {elsewhere}"
        assert [refusal(each) for each in refused] == [(-32602, said)] * len(refused)
        assert kept(tmp_path) == before
        assert client.load("s1").answer["result"] == {}


@pytest.mark.parametrize("spent", ["cost", "time"])
def test_seed_a_spent_budget_is_a_refusal_without_an_error(box: Box, spent: str) -> None:
    box.configure(PRICED)
    tokens = {"input_tokens": 900_000, "output_tokens": 200_000}
    costly = {"text": "Look.", "tool_calls": [call("todo", items=[])], "usage": tokens}
    slow = {"text": "slow " * 500, "chunk": 5, "delay_ms": 20}
    flags = {"cost": ("--max-cost", "1"), "time": ("--turn-timeout", "0.5")}[spent]
    box.play(*([costly, costly] if spent == "cost" else [slow]))
    with Client(box, *flags) as client:
        session = client.open()
        turn = client.turn("go")

        assert (turn.stop_reason, box.journal(session)[-1]["reason"]) == ("refusal", spent)
    meta = turn.answer["result"]["_meta"]["radian"]
    assert set(meta) == {"cost", "text", "metrics"}
    assert meta["text"] == "Look." if spent == "cost" else meta["text"].startswith("slow ")


def test_seed_a_missing_key_is_a_refusal_whose_error_says_what_to_do(box: Box) -> None:
    box.configure('\n[providers.far]\nkind = "anthropic"\ndefault_model = "m"\n')
    with Client(box, "--provider", "far") as client:
        client.open()
        turn = client.turn("go")

    assert turn.stop_reason == "refusal"
    error = turn.answer["result"]["_meta"]["radian"]["error"]
    assert error == "no key is stored for far; store one with: radian login far"


def test_seed_the_trust_question_is_not_asked_at_a_terminal_either(box: Box) -> None:
    box.home.joinpath("trust.json").unlink()
    box.workspace.joinpath("AGENTS.md").write_text("Be brief.")
    hello = {"id": 1, "method": "initialize", "params": HELLO}
    params = {"cwd": str(box.workspace), "mcpServers": []}
    with at_terminal(box, command="acp") as terminal:
        terminal.type(line(**hello).decode())
        terminal.wait_for('"agentCapabilities"')
        terminal.type(line(id=2, method="session/new", params=params).decode())
        shown = terminal.wait_for('"result":{"sessionId"')
        terminal.type("\x04")
        assert terminal.exit_code() == 0

    assert "is not trusted" in shown
    assert "[y/N]" not in shown
    assert not box.home.joinpath("trust.json").exists()


# --- seed, approvals and ask_user


@pytest.mark.parametrize("other", [{}, {"multiple": True}], ids=["text", "several"])
def test_seed_no_question_is_put_where_another_of_the_call_can_not_be(
    box: Box, other: dict[str, Any]
) -> None:
    options = [{"label": "red"}, {"label": "blue"}]
    last = {"question": "Why?", **other, **({"options": options} if other else {})}
    questions = [{"question": "Which colour?", "options": options}, last]
    box.play({"tool_calls": [call("ask_user", questions=questions)]}, {"text": "Then not."})
    with Client(box) as client:
        session = client.open()
        turn = client.turn("go")

    # Nobody was asked: no answer that a person gives is lost with the call.
    assert (turn.stop_reason, turn.text) == ("end_turn", "Then not.")
    (result,) = [each for each in box.journal(session) if each["type"] == "ToolResult"]
    assert result["status"] == "failed"


# --- 4.2 and 5.1 what a trusted project's profiles may do


def bring(box: Box, text: str) -> None:
    """Have the project bring a configuration."""
    box.workspace.joinpath(".radian").mkdir(exist_ok=True)
    box.workspace.joinpath(".radian", "config.toml").write_text(text)


def outside(command: str) -> dict[str, Any]:
    """Call a command that is asked for: out of the sandbox."""
    return call("shell", command=command, unsandboxed=True, reason="to see")


def decisions(box: Box, *flags: str) -> list[tuple[str, str]]:
    """Have the model make two calls that would be asked for, with nobody there to ask."""
    box.play({"tool_calls": [outside("echo hi"), outside("uname")]}, {"text": "ok"})
    run = box.run("exec", "-p", "x", "--output", "jsonl", *flags)
    assert run.returncode == 0, run.stderr
    return [(each["decision"], each["source"]) for each in of_type(run.stdout, "Permission")]


ASKED = ("deny", "nobody")
ALLOWED = ("allow_once", "rule")
UNAME = 'allow = ["shell(uname)"]\n'


def test_s5_1_a_trusted_project_adds_rules_to_a_profile(box: Box) -> None:
    bring(box, f"[profiles.workspace]\n{UNAME}")
    box.configure('\n[profiles.ci]\nextends = "workspace"\nallow = ["shell(echo *)"]\n')

    assert decisions(box) == [ASKED, ALLOWED]
    assert decisions(box, "--no-trust") == [ASKED, ASKED]
    # Of a name that both have, the rules of both hold; the project's other tables do nothing.
    assert decisions(box, "--profile", "ci") == [ALLOWED, ASKED]
    bring(box, f"[profiles.ci]\n{UNAME}")
    assert decisions(box, "--profile", "ci") == [ALLOWED, ALLOWED]
    bring(box, '[profiles.workspace]\ndeny = ["shell(uname)"]\n')
    assert decisions(box, "--allow", "shell(uname)") == [ASKED, ("deny", "rule")]


def test_s5_1_a_profile_that_only_the_project_has_keeps_the_sandbox(box: Box) -> None:
    bring(box, f'[profiles.ci]\nextends = "workspace"\n{UNAME}')
    words = ("exec", "-p", "x", "--profile", "ci")
    assert decisions(box, "--profile", "ci") == [ASKED, ALLOWED]

    untrusted = box.run(*words, "--no-trust")
    assert (untrusted.returncode, untrusted.stdout) == (2, "")
    assert "no profile 'ci'; known: read-only, workspace, full" in untrusted.stderr
    with Client(box, "--profile", "ci", "--no-trust") as client:
        client.initialize()
        assert "no profile 'ci'" in refusal(new(client, box.workspace))[1]
    bring(box, f'[profiles.ci]\nextends = "full"\n{UNAME}')
    run = box.run(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert "extends must be one of read-only, workspace, not 'full'" in run.stderr


def test_s4_4_no_project_takes_a_sandbox_away(box: Box) -> None:
    bring(box, f'[profiles.workspace]\nextends = "full"\n{UNAME}')

    assert decisions(box) == [ASKED, ALLOWED]
    box.play({"text": "ok"})
    said = box.run("exec", "-p", "x").stderr
    assert said.count("\n") == 1
    assert "extends full is passed over, for it extends workspace" in said


def test_s4_4_no_project_says_whom_to_call_or_with_what(box: Box) -> None:
    bring(box, 'default_provider = "evil"\n[providers.play]\nkind = "anthropic"\n')

    run = box.run("exec", "-p", "x")

    assert (run.returncode, run.stdout) == (0, "ok\n")
    assert [each.split(": ")[2].split()[0] for each in run.stderr.splitlines()] == [
        "'default_provider'",
        "'providers'",
    ]


# --- 5.4 what is tried again


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
        words = far(box, server.url, 'stream_idle_timeout = "300ms"\n')
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


# --- 4.1 and 4.2 who decides, and what the three profiles allow


ASK = {"": "deny nobody", "--yes": "allow_once yes"}
ROWS: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "read inside": (call("read", path="a.txt"), ("allow", "allow", "allow")),
    "read elsewhere": (call("read", path="{home}/plain"), ("deny", "deny", "allow")),
    "read a secret": (call("read", path="{home}/.ssh/id_rsa"), ("deny", "deny", "deny")),
    "read a secret by a link": (call("read", path="link"), ("deny", "deny", "deny")),
    "read our own": (call("read", path="{home}/.radian/config.toml"), ("deny", "deny", "deny")),
    "write inside": (call("write", path="b.txt", content="x"), ("no tool", "allow", "allow")),
    "write in .git": (call("write", path=".git/x", content="x"), ("no tool", "ask", "allow")),
    "write in .radian": (call("write", path=".radian/x", content="x"), ("no tool", "ask", "allow")),
    "write elsewhere": (call("write", path="../x", content="x"), ("no tool", "deny", "deny")),
    "shell without a sandbox": (
        call("shell", command="true", unsandboxed=True, reason="x"), ("deny", "ask", "allow"),
    ),
    "background job": (
        call("shell", command="true", background=True), ("deny", "as a command", "allow"),
    ),
    "fetch": (call("fetch", url="http://127.0.0.1:9/"), ("no tool", "ask", "allow")),
    "subagent": (call("subagent", prompt="look"), ("allow", "allow", "allow")),
    "todo": (call("todo", items=[]), ("allow", "allow", "allow")),
}  # fmt: skip
PROFILES = ("read-only", "workspace", "full")


@pytest.mark.parametrize("yes", ["", "--yes"])
@pytest.mark.parametrize("profile", PROFILES)
def test_s4_2_each_action_is_decided_by_its_row(box: Box, profile: str, yes: str) -> None:
    home = box.home.parent
    for path in (home / "plain", home / ".ssh" / "id_rsa", box.workspace / "a.txt"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    box.workspace.joinpath(".git").mkdir()
    box.workspace.joinpath("link").symlink_to(home / ".ssh" / "id_rsa")
    asked = json.loads(json.dumps([each for each, _ in ROWS.values()]).replace("{home}", str(home)))
    box.play({"when": "look", "text": "Seen."}, {"tool_calls": asked}, {"text": "ok"})

    flags = ("--profile", profile, "--output", "jsonl", *filter(None, [yes]))
    run = box.run("exec", "-p", "go", *flags)

    assert run.returncode == 0, run.stderr
    decided = {each["call_id"]: each for each in of_type(run.stdout, "Permission")}
    for at, (name, (_, row)) in enumerate(ROWS.items(), 1):
        wanted, found = row[PROFILES.index(profile)], decided.get(f"call-{at}", {})
        told = f"{found.get('decision')} {found.get('source')}"
        match wanted:
            case "ask":
                assert told == ASK[yes], name
            case "no tool":
                assert told == "None None", name
            case "as a command":  # where there is no sandbox it is asked for, too
                assert told in {"allow_once profile", ASK[yes]}, name
            case _:
                assert told == ("deny profile" if wanted == "deny" else "allow_once profile"), name
    assert not box.workspace.parent.joinpath("x").exists()


def test_s4_2_where_there_is_no_sandbox_leaving_it_needs_no_reason(box: Box) -> None:
    outside_of_it = call("shell", command="echo out", unsandboxed=True)
    for profile, status_of_call in (("full", "completed"), ("workspace", "failed")):
        box.play({"tool_calls": [outside_of_it]}, {"text": "ok"})
        run = box.run("exec", "-p", "go", "--output", "jsonl", "--yes", "--profile", profile)
        (result,) = of_type(run.stdout, "ToolResult")
        assert (profile, result["status"]) == (profile, status_of_call)


# --- 4.4 trust


def test_s4_4_the_trust_file_maps_paths_and_the_nearest_one_decides(box: Box) -> None:
    file = box.home / "trust.json"
    file.unlink()
    inner = box.workspace / "a" / "b"
    inner.mkdir(parents=True)
    inner.joinpath("AGENTS.md").write_text("Say moo.")
    words = ("exec", "-p", "x", "--workspace", "a/b", "--session-id")

    assert box.run("trust").returncode == 0
    listed = json.loads(file.read_text())
    box.run(*words, "one")
    assert box.run("trust", "--no", "a").returncode == 0
    box.run(*words, "two")
    box.run(*words, "three", "--trust")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (when,) = [each.pop("when") for each in listed.values()]
    assert listed == {str(box.workspace): {"trusted": True}}
    assert re.fullmatch(TIME, when)
    assert set(json.loads(file.read_text())) == {str(box.workspace), str(box.workspace / "a")}
    trusted = [box.journal(each)[1]["trusted"] for each in ("one", "two", "three")]
    assert trusted == [True, False, True]


def test_s4_4_a_project_that_is_gone_can_be_forgotten(box: Box) -> None:
    gone = box.workspace / "gone"
    gone.mkdir()
    assert box.run("trust", "gone").returncode == 0
    gone.rmdir()

    refused = box.run("trust", "gone")
    forgotten = box.run("trust", "--forget", "gone")

    assert (refused.returncode, refused.stdout) == (2, "")
    assert (forgotten.returncode, forgotten.stdout) == (0, f"{gone} is forgotten.\n")
    assert str(gone) not in box.home.joinpath("trust.json").read_text()
    assert box.run("trust", "--forget", "gone").stdout == f"{gone} was not listed.\n"


def test_s4_4_what_is_wished_of_trust_is_one_thing(box: Box) -> None:
    before = box.home.joinpath("trust.json").read_bytes()

    run = box.run("trust", "--no", "--forget")

    assert (run.returncode, run.stdout) == (2, "")
    assert "--no and --forget don't go together" in run.stderr
    assert box.home.joinpath("trust.json").read_bytes() == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_s4_4_the_notice_of_trust_comes_before_the_turn(
    box: Box, monkeypatch: pytest.MonkeyPatch, unbuffered: str
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    box.home.joinpath("trust.json").unlink()
    box.play({"tool_calls": [call("glob", pattern="*")]}, {"text": "ok"})

    notice, *rest = box.run("exec", stdin="x").stderr.splitlines()

    assert "is not trusted" in notice
    assert rest == ["> glob: Find * in ."]


# --- 1.2 and 2.4 what a provider sent raw


def test_s1_2_an_export_has_usage_as_it_was_sent_where_that_is_asked_for(box: Box) -> None:
    sent = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 3},
        "cost_in_vendor_points": 0.25,
    }
    last = chat(finish="stop", usage=sent)
    with model_server(stream(events(chat({"content": "Yes."}), last))) as server:
        words = ("exec", "-p", "x", "--session-id", "s1", *far(box, server.url))
        assert box.run(*words).returncode == 0

    (kept_of_it,) = [each for each in box.journal("s1") if each["type"] == "AssistantMessage"]
    counts = {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 3}
    assert (kept_of_it["usage"], kept_of_it["payload"]) == (counts, {"usage": sent})
    for form in ("json", "jsonl", "markdown"):
        export = ("exec", "--export", "s1", "--format", form)
        raw = box.run(*export, "--include-provider-payload").stdout
        assert "cost_in_vendor_points" in raw
        assert "cost_in_vendor_points" not in box.run(*export, "--include-reasoning").stdout


# --- 2.4 the journal


def test_s2_4_every_record_has_its_envelope_and_nobody_else_may_look(box: Box) -> None:
    job = call("shell", command="sleep 600", background=True)
    box.play({"text": "Look.", "tool_calls": [job], "usage": USED}, {"text": "ok"})
    box.run("exec", "-p", "go", "--session-id", "s1", "--profile", "full")
    box.play({"error": {"status": 400, "message": "no"}})
    box.run("exec", "-p", "again", "--resume", "s1")

    records = box.journal("s1")
    assert [each["seq"] for each in records] == list(range(1, len(records) + 1))
    assert {each["v"] for each in records} == {1}
    assert all(re.fullmatch(TIME, each["ts"]) for each in records)
    kinds = [each["type"] for each in records]
    assert [kinds.count(each) for each in ("SessionCreated", "RunStarted", "TurnEnded")] == [
        1,
        2,
        2,
    ]
    first = {"session_id": "s1", "workspace": str(box.workspace), "version": VERSION}
    assert {name: records[0][name] for name in first} == first
    sessions = box.home / "sessions"
    assert stat.S_IMODE(sessions.stat().st_mode) == 0o700
    for path in sessions.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


# --- 5.1 keys


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


def test_s5_1_without_a_name_the_key_is_the_default_providers(box: Box) -> None:
    path = box.home / "config.toml"
    path.write_text('default_provider = "near"\n[providers.near]\nkind = "anthropic"\n')

    assert box.run("login", stdin="sk-a-key-of-a-pipe\n").stdout == "The key near is stored.\n"
    assert box.run("logout").stdout == "The key near is removed.\n"
    assert box.run("logout").stdout == "No key near was stored.\n"
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


# --- 5.6 tools


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
