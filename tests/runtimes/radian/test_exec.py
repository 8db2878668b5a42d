"""`radian exec` as a program: one prompt, one turn, one exit code."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.box import Box, make_box, objects
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

USAGE = {"input_tokens": 10, "output_tokens": 5}


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def call(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "input": values}


def test_a_task_of_several_steps_is_done_with_real_tools(box: Box) -> None:
    box.play(
        {"text": "First a file.", "tool_calls": [call("write", path="a.txt", content="one\n")]},
        {"tool_calls": [call("read", path="a.txt"), call("shell", command="wc -l a.txt")]},
        {"text": "It has one line.", "usage": USAGE},
    )

    run = box.run("exec", "-p", "make a file", "--output", "jsonl", "--session-id", "s1")

    assert (run.returncode, run.stderr) == (0, "")
    said = objects(run.stdout)
    assert [each["type"] for each in said[:2]] == ["SessionStarted", "TurnStarted"]
    results = [each for each in said if each["type"] == "ToolResult"]
    assert [each["status"] for each in results] == ["completed"] * 3
    assert box.workspace.joinpath("a.txt").read_text() == "one\n"
    assert said[-1]["type"] == "Result"
    assert said[-1]["text"] == "It has one line."
    assert said[-1]["run_metrics"]["model_calls"] == 3
    assert said[-1]["run_metrics"]["tool_calls"] == 3
    kinds = [record["type"] for record in box.journal("s1")]
    assert kinds[:4] == ["SessionCreated", "RunStarted", "TurnStarted", "UserMessage"]
    assert kinds[-1] == "TurnEnded"


def test_text_output_is_the_answer_alone_and_the_way_there_goes_to_stderr(box: Box) -> None:
    box.play(
        {"text": "Looking.", "tool_calls": [call("glob", pattern="*.txt")]}, {"text": "None there."}
    )

    run = box.run("exec", "-p", "any texts?")

    assert (run.returncode, run.stdout) == (0, "None there.\n")
    assert "glob" in run.stderr


def test_json_output_is_the_result_alone(box: Box) -> None:
    box.play({"text": "Yes.", "usage": USAGE})

    run = box.run("exec", "-p", "well?", "--output", "json", "--session-id", "s1")

    result = json.loads(run.stdout)
    assert (result["type"], result["text"], result["status"]) == ("Result", "Yes.", "completed")
    assert (result["exit_code"], result["stop_reason"], result["cost"]) == (0, "end_turn", None)
    assert result["journal"] == str(box.home / "sessions" / "s1.jsonl")


def test_a_session_is_resumed_and_knows_what_was_said(box: Box) -> None:
    box.play({"text": "Noted."}, {"when": "what", "text": "Blue."})
    box.run("exec", "-p", "remember blue", "--session-id", "s1")

    run = box.run("exec", "-p", "what colour?", "--resume", "s1", "--output", "jsonl")

    said = objects(run.stdout)
    assert (said[0]["resumed"], said[1]["turn"], said[-1]["turn"]) == (True, 2, 2)
    records = box.journal("s1")
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))


def test_money_that_is_spent_ends_the_turn(box: Box) -> None:
    box.configure('\n[providers.play.models.script]\nprice_input = "1"\nprice_output = "1"\n')
    spent = {"usage": {"input_tokens": 900_000, "output_tokens": 200_000}}
    box.play({"tool_calls": [call("todo", items=[])], **spent}, {"text": "never"})

    run = box.run("exec", "-p", "go", "--output", "json", "--max-cost", "1")

    result = json.loads(run.stdout)
    assert (run.returncode, result["reason"], result["stop_reason"]) == (4, "cost", "refusal")
    assert result["cost"] == {"micros": 1_100_000, "incomplete": False, "estimated": False}


# --- stdin: fault B112 of the reported ones


def test_a_prompt_that_was_given_never_reads_stdin(box: Box) -> None:
    box.play({"text": "ok"})

    with box.start("exec", "-p", "say ok") as process:
        assert process.stdout is not None
        assert process.wait(30) == 0  # stdin is an open pipe all the while
        assert process.stdout.read() == "ok\n"


def test_all_of_a_piped_stdin_is_the_prompt(box: Box) -> None:
    box.play({"when": "from a pipe", "text": "heard"})

    assert box.run("exec", stdin="this came\nfrom a pipe\n").stdout == "heard\n"
    assert box.run("exec", "-p", "-", stdin="also from a pipe").stdout == "heard\n"


# --- signals: fault B115 of the reported ones


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_interrupts_and_what_was_said_is_kept(
    box: Box, number: signal.Signals, code: int
) -> None:
    text = "slow " * 500
    box.play({"text": text, "chunk": 5, "delay_ms": 20})

    with box.start("exec", "-p", "go", "--output", "jsonl", "--session-id", "s1") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "Text":
                break
        process.send_signal(number)
        last = process.stdout.read().splitlines()[-1]
        assert process.wait(30) == code

    result = json.loads(last)
    assert (result["status"], result["exit_code"]) == ("interrupted", code)
    message = next(each for each in box.journal("s1") if each["type"] == "AssistantMessage")
    assert message["partial"] is True
    assert text.startswith(message["parts"][0]["text"])
    assert box.journal("s1")[-1]["end"] == "Interrupted"


def test_sigterm_is_what_the_result_tells_also_after_a_ctrl_c(box: Box) -> None:
    box.play({"text": "slow " * 999, "chunk": 5, "delay_ms": 20})

    with box.start("exec", "-p", "go", "--output", "jsonl") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "Text":
                break
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
        result = json.loads(process.stdout.read().splitlines()[-1])
        assert (result["status"], result["exit_code"]) == ("interrupted", 143)
        assert process.wait(30) == 143


def test_a_signal_ends_a_running_tool_and_its_children(box: Box) -> None:
    box.play({"tool_calls": [call("shell", command="echo $$ > pid; sleep 1000")]})

    flags = ("--output", "jsonl", "--session-id", "s1", "--profile", "full")
    with box.start("exec", "-p", "go", *flags) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "Permission":
                break
        process.send_signal(signal.SIGINT)
        assert json.loads(process.stdout.read().splitlines()[-1])["exit_code"] == 130
        assert process.wait(30) == 130

    result = next(each for each in box.journal("s1") if each["type"] == "ToolResult")
    assert (result["status"], result["reason"]) == ("failed", "interrupted")


# --- permissions


def test_what_nobody_can_be_asked_is_denied_and_the_turn_goes_on(box: Box) -> None:
    outside = call("shell", command="id", unsandboxed=True, reason="to see")
    box.play({"tool_calls": [outside]}, {"text": "I could not."})

    run = box.run("exec", "-p", "go", "--output", "json")

    result = json.loads(run.stdout)
    assert (run.returncode, result["text"]) == (0, "I could not.")
    assert [each["tool"] for each in result["permission_denials"]] == ["shell"]
    assert "--yes" in result["permission_denials"][0]["reason"]


def test_yes_allows_once_what_would_be_asked_but_never_what_is_denied(box: Box) -> None:
    outside = call("shell", command="echo $((40+2))", unsandboxed=True, reason="to see")
    elsewhere = call("write", path="/elsewhere.txt", content="x")
    box.play({"tool_calls": [outside, elsewhere]}, {"text": "ok"})

    run = box.run("exec", "-p", "go", "--output", "jsonl", "--yes")

    said = objects(run.stdout)
    decided = [(each["decision"], each["source"]) for each in said if each["type"] == "Permission"]
    assert decided == [("allow_once", "yes"), ("deny", "profile")]
    assert next(each["output"] for each in said if each["type"] == "ToolResult") == "42\n"


def test_nothing_heavy_is_imported_for_a_scripted_turn(box: Box) -> None:
    box.play({"text": "ok", "usage": USAGE})
    environ = {**box.environ, "PYTHONPROFILEIMPORTTIME": "1"}

    run = subprocess.run(
        [script("radian"), "exec", "-p", "x"],
        cwd=box.workspace,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )

    loaded = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}
    heavy = {
        "asyncio",
        "click",
        "genai_prices",
        "httpx2",
        "loguru",
        "ssl",
        "tree_sitter",
    }
    assert loaded & heavy == set()
