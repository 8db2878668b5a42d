"""Background jobs that end between two lines of `radian exec` at a terminal."""

from __future__ import annotations

import os
import signal
import termios
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from runtimes.radian import line_prompt
from runtimes.radian.typed_line import Interrupted
from tests.runtimes.radian.box import Box, make_box
from tests.runtimes.radian.terminal import at_terminal

if TYPE_CHECKING:
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
        assert sorted(origins(box)) == ["prompt", "prompt", "wake"]


def test_the_turn_of_a_job_comes_before_that_of_the_line_that_was_typed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run: list[str] = []
    woken: list[Any] = [None, "wake", "another wake", None]
    lines: list[Any] = ["first", "second", Interrupted(), "", None]
    monkeypatch.setattr(line_prompt, "ask_line", lambda _prompt, _bell: lines.pop(0))
    monkeypatch.setattr(line_prompt, "Wakes", lambda _session: FakeWakes(woken))
    monkeypatch.setattr(line_prompt, "run_machine", lambda _one, _two, turn: ran(turn, 5))
    monkeypatch.setattr(
        line_prompt, "run_shown", lambda _one, _two, content: ran(content[0].text, 3)
    )

    def ran(what: str, code: int) -> int:
        run.append(what)
        return code

    code = line_prompt.converse(Mock(), Mock(broken=False))

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
        # Again: Python overlooks a signal that comes just before `input` waits for the next key.
        while terminal.process.poll() is None:
            terminal.process.send_signal(signal.SIGINT)
            os.sched_yield()

        assert terminal.exit_code() == 130
        assert modes(terminal.descriptor) == before
