"""Background jobs that end between two lines of `radian exec` at a terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import termios
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from runtimes.radian import line_prompt
from runtimes.radian.typed_line import Interrupted
from tests.runtimes.radian.box import Box, make_box
from tests.runtimes.radian.terminal import Terminal, at_terminal

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

FLAGS = ("--profile", "full", "--session-id", "s1")


class FakeWakes:
    """Has something to tell, or not, after each line."""

    def __init__(self, turns: list[Any]) -> None:
        self.turns = turns

    def connect(self, wish: Any) -> None:
        """Wish for nothing."""

    def next_turn(self) -> Any:
        return self.turns.pop(0)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def until_file(name: str, code: int = 0) -> dict[str, Any]:
    """Make a job that ends once there is a file."""
    command = f"while ! test -e {name}; do sleep 0.01; done; exit {code}"
    return {"name": "shell", "input": {"command": command, "background": True}}


def origins(box: Box) -> list[str]:
    return [each["origin"] for each in box.journal("s1") if each["type"] == "TurnStarted"]


def modes(descriptor: int) -> int:
    """Return the local modes of a terminal."""
    local: int = termios.tcgetattr(descriptor)[3]
    return local


def end_by(terminal: Terminal, number: int) -> None:
    """Send a signal until the process has ended.

    Again: Python overlooks one that comes just before `input` waits for the next key.
    """
    for _ in range(100):
        terminal.process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            terminal.process.wait(0.3)
            return


def test_a_job_that_ends_takes_the_empty_prompt_away_and_gives_it_back(box: Box) -> None:
    box.play(
        {"tool_calls": [until_file("go", 3)]},
        {"text": "Started.", "finish": "refused"},
        {"text": "It failed."},
        {"text": "Well.", "finish": "refused"},
    )
    with at_terminal(box, *FLAGS) as terminal:
        terminal.wait_for("> ")
        terminal.type("build\n")
        terminal.wait_for("Started.")
        terminal.wait_for("\n> ")
        (box.workspace / "go").touch()

        before = terminal.wait_for("& job-1: exited, exit code 3")
        assert before.replace("\r", "").strip() == ""
        terminal.wait_for("It failed.")
        terminal.wait_for("\n> ")
        terminal.type("so\n")
        terminal.wait_for("Well.")
        terminal.wait_for("\n> ")
        terminal.type("\x04")

        assert terminal.exit_code() == 6
    assert origins(box) == ["prompt", "wake", "prompt"]


def test_the_exit_code_is_that_of_the_last_prompt(box: Box) -> None:
    box.play(
        {"tool_calls": [until_file("go")]},
        {"text": "Started."},
        {"error": {"status": 400, "message": "out of order"}},
    )
    with at_terminal(box, *FLAGS) as terminal:
        terminal.wait_for("> ")
        terminal.type("build\n")
        terminal.wait_for("Started.")
        terminal.wait_for("\n> ")
        (box.workspace / "go").touch()
        terminal.wait_for("out of order")
        terminal.wait_for("\n> ")
        terminal.type("\x04")

        assert terminal.exit_code() == 0


def test_a_line_that_is_being_typed_is_not_lost_to_a_job_that_ends(box: Box) -> None:
    box.play(
        {"tool_calls": [until_file("go")]},
        {"text": "Started."},
        {"when": "and more", "text": "More."},
        {"text": "Whatever.", "finish": "refused"},
        then="repeat-last",
    )
    with at_terminal(box, *FLAGS) as terminal:
        terminal.wait_for("> ")
        terminal.type("build\n")
        terminal.wait_for("Started.")
        terminal.wait_for("\n> ")
        terminal.type("and ")
        terminal.wait_for("and ")
        (box.workspace / "go").touch()
        terminal.type("more\n")
        # The job's turn goes first if its end was heard by then.
        before = terminal.wait_for("More.")
        if "& job-1" not in before:
            terminal.wait_for("& job-1")
        terminal.wait_for("\n> ")
        (finished,) = [each for each in box.journal("s1") if each["type"] == "JobFinished"]
        told_in = origins(box)[finished["turn"] - 1]
        # It ended before the line's turn began, which then tells of it, or has one of its own.
        if told_in == "prompt":
            assert (origins(box), finished["turn"]) == (["prompt", "prompt"], 2)
        else:
            assert sorted(origins(box)) == ["prompt", "prompt", "wake"]


def test_the_turn_of_a_job_comes_before_that_of_the_line_that_was_typed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run: list[str] = []
    woken: list[Any] = [None, "wake", "another wake", None]
    lines: list[Any] = ["first", "second", Interrupted(), "", None]
    monkeypatch.setattr(line_prompt, "hear_signals", lambda: None)
    monkeypatch.setattr(line_prompt, "finish_in_order", lambda: None)
    monkeypatch.setattr(line_prompt, "ask_line", lambda _prompt, _bell: lines.pop(0))
    monkeypatch.setattr(line_prompt, "Wakes", lambda _session: FakeWakes(woken))
    monkeypatch.setattr(line_prompt, "run_machine", lambda _one, _two, turn: ran(turn, 5))
    monkeypatch.setattr(
        line_prompt, "run_shown", lambda _one, _two, content: ran(content[0].text, 3)
    )

    def ran(what: str, code: int) -> int:
        run.append(what)
        return code

    code = line_prompt.converse(Mock(), Mock(broken=False, ends_with=None))

    assert run == ["first", "wake", "second", "another wake"]
    assert code == 3


def test_ctrl_c_ends_a_wake_turn_but_not_the_conversation(box: Box) -> None:
    box.play(
        {"tool_calls": [until_file("go")]},
        {"text": "Started."},
        {"text": "slow " * 999, "chunk": 5, "delay_ms": 20},
        {"text": "Quick."},
    )
    with at_terminal(box, *FLAGS) as terminal:
        terminal.wait_for("> ")
        terminal.type("build\n")
        terminal.wait_for("Started.")
        terminal.wait_for("\n> ")
        (box.workspace / "go").touch()
        terminal.wait_for("slow slow")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for("interrupted")
        terminal.wait_for("\n> ")
        terminal.type("again\n")
        terminal.wait_for("Quick.")


@pytest.mark.parametrize("typed", ["", "half a li"])
def test_a_signal_at_the_prompt_leaves_the_terminal_as_it_was(box: Box, typed: str) -> None:
    box.play({"text": "One."})
    with at_terminal(box, *FLAGS) as terminal:
        before = modes(terminal.descriptor)
        terminal.wait_for("> ")
        if typed:
            terminal.type(typed)
            terminal.wait_for(typed)
        while modes(terminal.descriptor) == before:
            os.sched_yield()
        end_by(terminal, signal.SIGINT)

        assert terminal.exit_code() == 130
        assert modes(terminal.descriptor) == before


def ended_jobs(box: Box) -> list[tuple[str, bool, int | None]]:
    """Return how the journal says that each job ended."""
    return [
        (each["job_id"], each.get("killed", False), each.get("exit_code"))
        for each in box.journal("s1")
        if each["type"] == "JobFinished"
    ]


def started(box: Box, *more: dict[str, Any]) -> None:
    """Have the model start a job that does not end, and say so."""
    job = "echo $$ > pid; while :; do sleep 0.01; done"
    wait = {"name": "shell", "input": {"command": "while ! test -s pid; do sleep 0.01; done"}}
    background = {"name": "shell", "input": {"command": job, "background": True}}
    box.play({"tool_calls": [background]}, {"tool_calls": [wait]}, {"text": "Started."}, *more)


def runs(box: Box) -> bool:
    return os.path.exists(f"/proc/{(box.workspace / 'pid').read_text().strip()}")


@contextmanager
def job_at_the_prompt(box: Box, *more: dict[str, Any]) -> Generator[Terminal]:
    """At the prompt, after a turn that has started a job; ``more`` is played after it."""
    started(box, *more)
    with at_terminal(box, *FLAGS) as terminal:
        terminal.wait_for("> ")
        terminal.type("go\n")
        terminal.wait_for("Started.")
        terminal.wait_for("\n> ")
        yield terminal


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)]
)
@pytest.mark.parametrize("typed", ["", "half a li"])
def test_a_signal_at_the_prompt_ends_the_jobs_and_the_journal_says_so(
    box: Box, number: int, code: int, typed: str
) -> None:
    with job_at_the_prompt(box) as terminal:
        if typed:
            terminal.type(typed)
            terminal.wait_for(typed)
        end_by(terminal, number)

        assert terminal.exit_code() == code
    assert ended_jobs(box) == [("job-1", True, None)]
    assert not runs(box)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_the_process_in_a_turn_does_not_wait_for_another_line(
    box: Box, number: int
) -> None:
    with job_at_the_prompt(box, {"text": "slow " * 999, "chunk": 5, "delay_ms": 20}) as terminal:
        terminal.type("on\n")
        terminal.wait_for("slow slow")
        terminal.process.send_signal(number)

        assert terminal.exit_code() == 143
    assert ended_jobs(box) == [("job-1", True, None)]
    assert [each["end"] for each in box.journal("s1") if each["type"] == "TurnEnded"] == [
        "Completed",
        "Interrupted",
    ]


def test_what_ends_the_process_does_so_after_a_ctrl_c_in_the_same_turn(box: Box) -> None:
    box.play({"text": "slow " * 999, "chunk": 5, "delay_ms": 20})
    with at_terminal(box, *FLAGS) as terminal:
        terminal.wait_for("> ")
        terminal.type("on\n")
        terminal.wait_for("slow slow")
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            terminal.process.send_signal(number)

        assert terminal.exit_code() == 143
    assert [each["end"] for each in box.journal("s1") if each["type"] == "TurnEnded"] == [
        "Interrupted"
    ]


def test_the_end_of_input_ends_the_jobs_and_the_journal_says_so(box: Box) -> None:
    with job_at_the_prompt(box) as terminal:
        terminal.type("\x04")

        assert terminal.exit_code() == 0
    assert ended_jobs(box) == [("job-1", True, None)]


def test_a_terminal_that_is_gone_ends_the_jobs_and_the_journal_says_so(box: Box) -> None:
    with job_at_the_prompt(box) as terminal:
        other = os.open(os.devnull, os.O_RDWR)
        os.dup2(other, terminal.descriptor)
        os.close(other)

        terminal.exit_code()
    assert ended_jobs(box) == [("job-1", True, None)]
    assert not runs(box)


def test_a_signal_at_the_prompt_runs_the_last_hooks(box: Box) -> None:
    command = ["sh", "-c", "echo over > hook"]
    box.configure(f'\n[[hooks]]\nevent = "session_end"\ncommand = {json.dumps(command)}\n')
    box.play({"text": "One."})
    with at_terminal(box, *FLAGS) as terminal:
        terminal.wait_for("> ")
        terminal.type("go\n")
        terminal.wait_for("One.")
        terminal.wait_for("\n> ")
        terminal.process.send_signal(signal.SIGTERM)

        assert terminal.exit_code() == 143
    assert (box.workspace / "hook").read_text() == "over\n"


def test_a_signal_at_the_question_of_trust_opens_no_session(box: Box) -> None:
    (box.home / "trust.json").unlink()
    (box.workspace / "AGENTS.md").write_text("Be brief.")
    with at_terminal(box, *FLAGS) as terminal:
        terminal.wait_for("Trust it? [y/N] ")
        end_by(terminal, signal.SIGINT)

        assert terminal.exit_code() == 130
    assert not (box.home / "sessions").exists()


def test_signals_that_come_together_leave_nothing_half_done(box: Box) -> None:
    with job_at_the_prompt(box) as terminal:
        for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM, signal.SIGCONT):
            terminal.process.send_signal(number)
        end_by(terminal, signal.SIGHUP)

        assert terminal.exit_code() == 143
    assert ended_jobs(box) == [("job-1", True, None)]
    assert not runs(box)
