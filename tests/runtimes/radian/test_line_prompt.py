"""`radian exec` at a terminal: one line, one turn; questions are put there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.box import Box, make_box
from tests.runtimes.radian.terminal import at_terminal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def call(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "input": values}


def test_each_line_is_a_turn_of_one_session_until_the_end_of_input(box: Box) -> None:
    box.play({"text": "One."}, {"text": "Two.", "finish": "refused"})

    with at_terminal(box, "--session-id", "s1") as terminal:
        terminal.wait_for("> ")
        terminal.type("first\n")
        terminal.wait_for("One.")
        terminal.wait_for("> ")
        terminal.type("\nsecond\n")
        terminal.wait_for("Two.")
        terminal.wait_for("> ")
        terminal.type("\x04")
        assert terminal.exit_code() == 6

    assert [each["turn"] for each in box.journal("s1") if each["type"] == "TurnEnded"] == [1, 2]


def test_it_says_who_answers_and_how_to_end_before_the_first_line(box: Box) -> None:
    box.play({"text": "One."})

    with at_terminal(box, "--session-id", "s1", "--profile", "read-only") as terminal:
        greeting = terminal.wait_for("> ")

    assert "profile read-only, session s1" in greeting
    assert "Ctrl-D ends" in greeting


def test_a_permission_is_asked_and_always_holds_for_the_process(box: Box) -> None:
    outside = call("shell", command="echo $((40+2))", unsandboxed=True, reason="to see")
    box.play({"tool_calls": [outside]}, {"tool_calls": [outside]}, {"text": "Done."})

    with at_terminal(box, "--session-id", "s1") as terminal:
        terminal.wait_for("> ")
        terminal.type("go\n")
        terminal.wait_for("Number (anything else rejects): ")
        terminal.type("2\n")
        terminal.wait_for("Done.")

    decided = [each for each in box.journal("s1") if each["type"] == "PermissionDecided"]
    assert [(each["decision"], each["source"]) for each in decided] == [
        ("allow_always", "user"),
        ("allow_once", "grant"),
    ]
    assert "wait_ms" in decided[0]


def test_a_rejection_is_a_result_and_its_words_reach_the_model(box: Box) -> None:
    outside = call("shell", command="id", unsandboxed=True, reason="to see")
    box.play({"tool_calls": [outside]}, {"text": "Well, no."})

    with at_terminal(box, "--session-id", "s1") as terminal:
        terminal.wait_for("> ")
        terminal.type("go\n")
        terminal.wait_for("Number (anything else rejects): ")
        terminal.type("use the sandbox\n")
        terminal.wait_for("Well, no.")

    result = next(each for each in box.journal("s1") if each["type"] == "ToolResult")
    assert result["status"] == "failed"
    assert "use the sandbox" in result["output"]


def test_questions_of_the_model_are_put_one_at_a_time(box: Box) -> None:
    questions = [
        {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]},
        {"question": "Why?"},
    ]
    box.play({"tool_calls": [call("ask_user", questions=questions)]}, {"text": "I see."})

    with at_terminal(box, "--session-id", "s1") as terminal:
        terminal.wait_for("> ")
        terminal.type("go\n")
        terminal.wait_for("2. blue")
        terminal.type("2\n")
        terminal.wait_for("? Why?")
        terminal.type("it is calm\n")
        terminal.wait_for("I see.")

    records = box.journal("s1")
    answers = [each["option"] for each in records if each["type"] == "QuestionAnswered"]
    assert answers == ["blue", "it is calm"]
    result = next(each for each in records if each["type"] == "ToolResult")
    assert result["output"] == "Which colour?\n-> blue\n\nWhy?\n-> it is calm"


def test_trust_is_asked_for_once(box: Box) -> None:
    (box.home / "trust.json").unlink()
    (box.workspace / "AGENTS.md").write_text("Be brief.")
    box.play({"text": "ok"})

    with at_terminal(box) as terminal:
        terminal.wait_for("Trust it? [y/N] ")
        terminal.type("y\n")
        terminal.wait_for("> ")

    assert "is trusted." in box.run("trust", "--show").stdout


def test_trust_is_not_asked_for_where_it_would_load_nothing(box: Box) -> None:
    (box.home / "trust.json").unlink()
    box.play({"text": "ok"})

    with at_terminal(box) as terminal:
        before = terminal.wait_for("> ")

    assert "trust" not in before.lower()
    assert not (box.home / "trust.json").exists()


def test_ctrl_c_ends_a_turn_but_not_the_conversation(box: Box) -> None:
    box.play({"text": "slow " * 999, "chunk": 5, "delay_ms": 20}, {"text": "Quick."})

    with at_terminal(box, "--session-id", "s1") as terminal:
        terminal.wait_for("> ")
        terminal.type("go\n")
        terminal.wait_for("slow slow")
        terminal.process.send_signal(2)
        terminal.wait_for("interrupted")
        terminal.wait_for("> ")
        terminal.type("again\n")
        terminal.wait_for("Quick.")


def test_where_nobody_is_there_a_question_fails_and_the_turn_goes_on(box: Box) -> None:
    box.play({"tool_calls": [call("ask_user", questions=[{"question": "Why?"}])]}, {"text": "Hm."})

    run = box.run("exec", "-p", "go", "--yes", "--session-id", "s1")

    assert (run.returncode, run.stdout) == (0, "Hm.\n")
    result = next(each for each in box.journal("s1") if each["type"] == "ToolResult")
    assert "nobody is there" in result["output"]
