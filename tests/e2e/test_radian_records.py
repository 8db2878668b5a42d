"""Section 2 of the page behind `radian`: streams, results, journals; see `test_radian_seed`."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING

import pytest

from runtimes.version import VERSION
from tests.e2e.radian_page import OUTPUTS, PRICED, TIME, USED, of_type, talker
from tests.runtimes.radian.acp.client import Client, call
from tests.runtimes.radian.box import Box, objects

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return talker(tmp_path)


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
