"""Trouble under a turn of `radian exec`: the journal goes, the process is killed."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from actors import signals
from actors.local_host import LocalResult
from actors.turn import TurnResult
from protocol.errors import InternalError
from runtimes.radian.turn_shown import run_machine, shown_as
from tests.runtimes.radian.box import Box, make_box, objects

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def call(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "input": values}


def test_a_turn_whose_journal_is_gone_ends_with_a_clear_error(box: Box) -> None:
    gone = call("shell", command=f"rm {box.home}/sessions/s1.jsonl")
    box.play({"tool_calls": [gone]}, {"text": "never"})

    flags = ("--output", "jsonl", "--session-id", "s1", "--profile", "full")
    run = box.run("exec", "-p", "go", *flags)

    said = objects(run.stdout)
    assert (run.returncode, said[-1]["status"], said[-1]["exit_code"]) == (1, "failed", 1)
    assert "it was removed" in said[-1]["error"]
    assert "never" not in run.stdout


def test_a_session_that_was_killed_in_a_tool_goes_on(box: Box) -> None:
    box.play({"tool_calls": [call("shell", command="sleep 1000")]})
    flags = ("--output", "jsonl", "--session-id", "s1", "--profile", "full")
    with box.start("exec", "-p", "go", *flags) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "Permission":
                break
        process.kill()
        process.wait(30)
    box.play({"text": "On we go."})

    run = box.run("exec", "-p", "and now?", "--resume", "s1", "--output", "json")

    assert (run.returncode, json.loads(run.stdout)["turn"]) == (0, 2)
    assert box.run("exec", "--list").stdout.startswith("s1 ")


def test_a_home_that_can_not_be_written_is_named(box: Box) -> None:
    (box.home / "sessions").write_text("no folder")
    box.play({"text": "never"})

    run = box.run("exec", "-p", "go")

    assert (run.returncode, run.stdout) == (1, "")
    assert "sessions" in run.stderr


@pytest.mark.parametrize(
    ("came", "code"),
    [([signal.SIGINT], 130), ([signal.SIGINT, signal.SIGINT], 130), ([signal.SIGTERM], 143)],
)
def test_a_turn_that_a_signal_stops_before_it_begins_is_no_fault(
    came: list[int], code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = LocalResult(TurnResult("cancelled"), came)

    assert shown_end(ended, monkeypatch) == code
    assert capfd.readouterr() == ("", "")


def test_a_turn_that_a_fault_of_ours_keeps_from_beginning_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = LocalResult(TurnResult(error=InternalError()), [])

    assert shown_end(ended, monkeypatch) == 1
    assert capfd.readouterr().err == "radian: internal error; the log has it\n"


def shown_end(ended: LocalResult, monkeypatch: pytest.MonkeyPatch) -> int:
    """Show a turn that came to nothing; return its exit code."""
    monkeypatch.setattr("actors.local_host.run_turn", lambda *_, **__: ended)
    for name in ("note", "ring"):  # those of the process that tests
        monkeypatch.setattr(signals, name, lambda _: None)
    nobody: Any = None
    return run_machine(nobody, shown_as("text"), nobody)
