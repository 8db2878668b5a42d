"""Decisions of the page behind `radian`, held where no test nearer to the code holds them.

The page that `radian acp` was made from has an index of its own, by sentence, in
`runtimes/radian/acp/seed_index.py`.  This is the other one, `spec/radian.md` of the shared data;
each test begins with the section that it stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.acp.client import call
from tests.runtimes.radian.box import Box, make_box
from tests.runtimes.radian.terminal import at_terminal

if TYPE_CHECKING:
    from pathlib import Path

OUTPUTS = ("text", "json", "jsonl")


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


# --- 1.2 flags of exec alone


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
