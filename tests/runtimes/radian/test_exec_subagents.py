"""Subagents under `radian exec`: what they do, what they cost, and what stops them."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.box import Box, make_box, objects

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

USAGE = {"input_tokens": 10, "output_tokens": 5}
PRICED = '\n[providers.play.models.script]\nprice_input = "1"\nprice_output = "2"\n'
HOOK = """
[[hooks]]
event = "before_tool"
command = ["sh", "-c", "if grep -q glob; then echo no >&2; exit 2; fi"]
"""
MICROS = 20
"""What a call costs that has this usage."""
STREAM = ("--output", "jsonl", "--session-id", "s1")


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def call(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "input": values}


def delegate(*tasks: str) -> dict[str, Any]:
    """Return an answer that gives tasks away."""
    given = [call("subagent", prompt=task, description=f"Task {task}") for task in tasks]
    return {"tool_calls": given, "usage": USAGE}


def of_type(table: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [each for each in table if each["type"] == kind]


def seen(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """Yield events as they come."""
    assert process.stdout is not None
    return (json.loads(line) for line in process.stdout)


def test_a_subagent_works_with_the_tools_and_its_last_message_is_the_result(box: Box) -> None:
    box.configure(PRICED)
    box.play(
        delegate("add a note"),
        {"tool_calls": [call("write", path="note.txt", content="hello\n")], "usage": USAGE},
        {"text": "note.txt is there", "usage": USAGE},
        {"text": "Done.", "usage": USAGE},
    )

    run = box.run("exec", "-p", "go", *STREAM)

    assert box.workspace.joinpath("note.txt").read_text() == "hello\n"
    said = objects(run.stdout)
    result = said[-1]
    assert (run.returncode, result["text"]) == (0, "Done.")
    assert result["cost"]["micros"] == 4 * MICROS
    metrics = result["run_metrics"]
    assert (metrics["model_calls"], metrics["tool_calls"]) == (2, 1)
    assert (metrics["subagent_calls"], metrics["subagent_model_calls"]) == (1, 2)
    assert (metrics["input_tokens"], metrics["output_tokens"]) == (40, 20)
    (shown,) = of_type(said, "ToolCall")
    assert (shown["title"], shown["kind"]) == ("Task add a note", "other")
    progress = "".join(each["delta"] for each in of_type(said, "ToolOutput"))
    assert progress == "> write: Write note.txt\nnote.txt is there\n"
    (ended,) = of_type(said, "ToolResult")
    assert (ended["status"], ended["output"]) == ("completed", "note.txt is there")


def test_the_text_view_shows_what_a_subagent_does(box: Box) -> None:
    box.play(delegate("look"), {"tool_calls": [call("glob", pattern="*")]}, {"text": "a"}, {})

    run = box.run("exec", "-p", "go")

    assert "> subagent: Task look\n  > glob: " in run.stderr


def test_what_a_subagent_changed_must_be_read_anew(box: Box) -> None:
    box.workspace.joinpath("a.txt").write_text("one\n")
    read = {"tool_calls": [call("read", path="a.txt")]}
    box.play(
        read,
        delegate("change it"),
        read,
        {"tool_calls": [call("patch", path="a.txt", old="one", new="two")]},
        {"text": "changed"},
        {"tool_calls": [call("write", path="a.txt", content="mine")]},
        {"text": "Done."},
    )

    run = box.run("exec", "-p", "go", *STREAM)

    assert objects(run.stdout)[-1]["run_metrics"]["tool_failures"] == 1
    assert "changed" in of_type(objects(run.stdout), "ToolResult")[-1]["output"]
    assert box.workspace.joinpath("a.txt").read_text() == "two\n"


def test_neighbours_work_side_by_side(box: Box) -> None:
    # Each waits until both have begun.
    wait = "touch {0}; until [ -e {1} ]; do sleep 0.01; done"
    box.play(
        delegate("task a", "task b"),
        {"when": "task a", "tool_calls": [call("shell", command=wait.format("a", "b"))]},
        {"when": "task b", "tool_calls": [call("shell", command=wait.format("b", "a"))]},
        {"text": "met"},
        {"text": "met"},
        {"text": "Both met."},
    )

    run = box.run("exec", "-p", "go", *STREAM, "--profile", "full")

    said = objects(run.stdout)
    assert said[-1]["text"] == "Both met."
    assert [each["output"] for each in of_type(said, "ToolResult")] == ["met", "met"]


def test_what_is_left_of_the_turns_calls_is_all_that_a_subagent_has(box: Box) -> None:
    look = {"tool_calls": [call("glob", pattern="*")]}
    box.play(delegate("search"), look, look, look, then="repeat-last")

    run = box.run("exec", "-p", "go", *STREAM, "--max-model-calls", "3")

    said = objects(run.stdout)
    assert (run.returncode, said[-1]["reason"]) == (4, "model_calls")
    (ended,) = of_type(said, "ToolResult")
    assert (ended["status"], ended["reason"]) == ("failed", "model_calls")
    assert said[-1]["run_metrics"]["subagent_model_calls"] == 2
    ends = [(each.get("agent"), each["end"]) for each in of_type(box.journal("s1"), "TurnEnded")]
    assert ends == [("call-1", "Incomplete"), (None, "Incomplete")]


def test_money_that_a_subagent_spent_is_spent_for_the_turn(box: Box) -> None:
    box.configure(PRICED)
    look = {"tool_calls": [call("glob", pattern="*")], "usage": USAGE}
    box.play(delegate("search"), look, look, look)

    run = box.run("exec", "-p", "go", *STREAM, "--max-cost", "0.00005")

    said = objects(run.stdout)
    assert (run.returncode, said[-1]["reason"]) == (4, "cost")
    assert said[-1]["cost"]["micros"] == 3 * MICROS
    assert of_type(said, "ToolResult")[0]["reason"] == "cost"


def test_a_model_error_in_a_subagent_is_the_result_of_its_call(box: Box) -> None:
    box.play(
        delegate("search"),
        {"error": {"status": 400, "message": "no such model"}},
        {"text": "It failed."},
    )

    run = box.run("exec", "-p", "go", *STREAM)

    said = objects(run.stdout)
    assert (run.returncode, said[-1]["text"]) == (0, "It failed.")
    (ended,) = of_type(said, "ToolResult")
    assert ended["status"] == "failed"
    assert "no such model" in ended["output"]


def test_what_nobody_allows_is_denied_to_a_subagent_too(box: Box) -> None:
    box.play(
        delegate("go out"),
        {"tool_calls": [call("fetch", url="http://127.0.0.1:9/")]},
        {"text": "not allowed"},
        {"text": "Well."},
    )

    run = box.run("exec", "-p", "go", *STREAM)

    said = objects(run.stdout)
    progress = "".join(each["delta"] for each in of_type(said, "ToolOutput"))
    assert "! fetch: denied: " in progress
    decided = of_type(box.journal("s1"), "PermissionDecided")
    assert [(each.get("agent"), each["decision"]) for each in decided] == [
        (None, "allow_once"),
        ("call-1", "deny"),
    ]


def test_hooks_judge_the_calls_of_a_subagent(box: Box) -> None:
    box.configure(HOOK)
    box.play(
        delegate("look"),
        {"tool_calls": [call("glob", pattern="*")]},
        {"text": "not allowed"},
        {"text": "Well."},
    )

    run = box.run("exec", "-p", "go", *STREAM)

    assert (run.returncode, objects(run.stdout)[-1]["text"]) == (0, "Well.")
    denied = of_type(box.journal("s1"), "PermissionDecided")[-1]
    assert (denied["agent"], denied["source"], denied["decision"]) == ("call-1", "hook", "deny")


def test_a_denied_subagent_never_begins(box: Box) -> None:
    box.play(delegate("search"), {"text": "Alone then."})

    run = box.run("exec", "-p", "go", *STREAM, "--deny", "subagent")

    assert objects(run.stdout)[-1]["permission_denials"][0]["tool"] == "subagent"
    assert len(of_type(box.journal("s1"), "TurnStarted")) == 1


@pytest.mark.parametrize("when", ["in its model", "in its tool"])
def test_an_interrupt_ends_a_subagent_with_its_turn(box: Box, when: str) -> None:
    sleep = {"tool_calls": [call("shell", command="sleep 1000")]}
    slow = {"text": "letter by letter", "chunk": 1, "delay_ms": 60_000}
    first = {"tool_calls": [call("glob", pattern="*")]}
    box.play(delegate("wait"), first, slow if when == "in its model" else sleep)
    with box.start("exec", "-p", "go", *STREAM, "--profile", "full") as process:
        # The first call of the subagent is over, or the second has begun.
        wanted = "> glob" if when == "in its model" else "> shell"
        next(each for each in seen(process) if each.get("delta", "").startswith(wanted))
        process.send_signal(signal.SIGINT)
        left = list(seen(process))
        assert process.wait(30) == 130

    assert left[-1]["status"] == "interrupted"
    assert of_type(left, "ToolResult")[-1]["reason"] == "interrupted"
    ends = [(each.get("agent"), each["end"]) for each in of_type(box.journal("s1"), "TurnEnded")]
    assert ends == [("call-1", "Interrupted"), (None, "Interrupted")]


def test_the_time_of_a_turn_is_that_of_its_subagents(box: Box) -> None:
    box.play(delegate("wait"), {"text": "x", "chunk": 1, "delay_ms": 60_000})

    run = box.run("exec", "-p", "go", *STREAM, "--turn-timeout", "1")

    said = objects(run.stdout)
    assert (run.returncode, said[-1]["reason"]) == (4, "time")
    assert of_type(said, "ToolResult")[0]["reason"] == "interrupted"


def test_a_session_that_was_killed_in_a_subagent_goes_on_without_it(box: Box) -> None:
    box.play(delegate("wait"), {"tool_calls": [call("shell", command="sleep 1000")]})
    with box.start("exec", "-p", "go", *STREAM, "--profile", "full") as process:
        next(each for each in seen(process) if each.get("delta", "").startswith("> shell"))
        process.kill()
        process.wait(30)
    assert not of_type(box.journal("s1"), "TurnEnded")
    box.play({"when": "and now?", "text": "On we go."})

    run = box.run("exec", "-p", "and now?", "--resume", "s1", "--output", "json")

    assert (run.returncode, json.loads(run.stdout)["text"]) == (0, "On we go.")
    assert json.loads(run.stdout)["turn"] == 2
    text = box.run("exec", "--export", "s1").stdout
    assert "Result of `subagent` (failed): interrupted" in text
    assert "### User of subagent call-1\n\nwait\n" in text
    assert box.run("exec", "--search", "wait").stdout == ""
    fork = box.run("exec", "--fork", "s1", "--at", "1")
    assert fork.returncode == 0
