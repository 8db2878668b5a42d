"""What is written, by a screen that redraws and by one that does not."""

from __future__ import annotations

import io
import os
import shutil

import pytest

from protocol.acp.updates import ToolCall, ToolCallUpdate
from runtimes.chantry.board import Board
from runtimes.chantry.live_screen import LiveScreen
from runtimes.chantry.marks import look
from runtimes.chantry.plain_screen import PlainScreen
from runtimes.chantry.shown import Changed, Note, Problem, Question, Said, TurnOver

ASCII = look(unicode=False, colour=False)


class Terminal(io.StringIO):
    """As much of a terminal as we use: cursor up, erase below, erase line."""

    def screen(self) -> list[str]:
        """Return the lines as they are seen."""
        lines, row = [""], 0
        rest = self.getvalue()
        while rest:
            if rest.startswith("\x1b[J"):
                lines, rest = [*lines[:row], ""], rest[3:]
            elif rest.startswith("\x1b[K"):
                lines[row], rest = "", rest[3:]
            elif rest.startswith("\x1b["):
                count, _, rest = rest[2:].partition("A")
                row -= int(count)
            elif rest[0] == "\n":
                row, rest = row + 1, rest[1:]
                lines += [""] if row == len(lines) else []
            elif rest[0] == "\r":
                rest = rest[1:]
            else:
                lines[row] += rest[0]
                rest = rest[1:]
        return lines


@pytest.fixture(autouse=True)
def _size(monkeypatch: pytest.MonkeyPatch) -> None:
    size = os.terminal_size((40, 10))
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: size)


def opened(*names: str) -> Board:
    board = Board()
    for name in names:
        board.apply(ToolCall(tool_call_id=name, title=name), 0)
    return board


def moved(board: Board, name: str, status: str) -> Changed:
    update = ToolCallUpdate(tool_call_id=name, status=status)  # type: ignore[arg-type]
    return Changed(board, tuple(board.apply(update, 0)))


def live() -> tuple[LiveScreen, Terminal]:
    terminal = Terminal()
    return LiveScreen(terminal, terminal, ASCII, lambda: 0), terminal


def test_what_is_said_after_calls_that_are_over_comes_after_them() -> None:
    screen, terminal = live()
    board = opened("a", "b")
    screen.show(Said("Let me look.", "agent"))
    screen.show(Changed(board, tuple(board.rows)))
    screen.show(moved(board, "a", "completed"))
    screen.show(moved(board, "b", "completed"))
    screen.show(Said("Both are fine.", "agent"))
    screen.flush()
    board.apply(ToolCall(tool_call_id="c", title="c", status="completed"), 0)
    screen.show(Changed(board, (board.calls["c"],)))
    screen.show(TurnOver(board, (), "end_turn"))
    screen.flush()

    assert terminal.screen() == [
        "Let me look.",
        "  + a",
        "  + b",
        "Both are fine.",
        "  + c",
        "  turn over: end_turn",
        "",
    ]


def test_text_that_comes_while_a_call_is_open_leaves_the_board_below_it() -> None:
    screen, terminal = live()
    board = opened("a", "b")
    screen.show(Changed(board, tuple(board.rows)))
    screen.show(moved(board, "a", "completed"))
    screen.show(Said("said\n", "agent"))
    screen.flush()

    assert terminal.screen() == ["said", "  + a", "  . b", ""]


def test_the_board_is_redrawn_in_place_while_text_scrolls_above() -> None:
    screen, terminal = live()
    board = opened("a", "b")
    screen.show(Changed(board, tuple(board.rows)))
    screen.flush()

    screen.show(moved(board, "a", "in_progress"))
    screen.show(Said("compiling\nhalf", "agent"))
    screen.flush()
    half_way = terminal.screen()
    screen.show(Said(" done\n", "agent"))
    screen.show(moved(board, "a", "completed"))
    screen.flush()

    assert half_way == ["compiling", "half", "  > a", "  . b", ""]
    assert terminal.screen() == ["compiling", "half done", "  + a", "  . b", ""]


def test_the_board_stays_when_the_turn_is_over() -> None:
    screen, terminal = live()
    board = opened("a")
    screen.show(Changed(board, tuple(board.rows)))
    screen.flush()

    screen.show(TurnOver(board, tuple(board.stop(0)), "cancelled"))
    screen.show(Note("next"))
    screen.flush()
    screen.flush()

    assert terminal.screen() == ["  ! a  stopped", "  turn over: cancelled", "  next", ""]


def test_a_question_stands_below_the_board_and_what_comes_meanwhile_above_it() -> None:
    screen, terminal = live()
    board = opened("a")
    screen.show(Changed(board, tuple(board.rows)))
    screen.show(Question(("? Move", "  1  Allow")))
    screen.ask("answer: ")
    screen.show(Note("meanwhile"))
    screen.flush()
    asked = terminal.screen()

    terminal.write("1\n")
    screen.answered()
    screen.show(moved(board, "a", "completed"))
    screen.flush()

    assert asked == ["  . a", "? Move", "  1  Allow", "  meanwhile", "answer: "]
    assert terminal.screen()[4:] == ["answer: 1", "  + a", ""]


def test_a_half_said_line_is_not_said_again_after_a_question() -> None:
    screen, terminal = live()
    board = opened("a")
    screen.show(Changed(board, tuple(board.rows)))
    screen.show(Said("Let me see.", "agent"))
    screen.show(Question(("? Move",)))
    screen.ask("answer: ")

    terminal.write("1\n")
    screen.answered()
    screen.show(moved(board, "a", "completed"))
    screen.show(Said(" Done.\n", "agent"))
    screen.flush()

    lines = ["Let me see.", "  . a", "? Move", "answer: 1", "  + a", " Done.", ""]
    assert terminal.screen() == lines


def test_a_withdrawn_question_leaves_no_prompt() -> None:
    screen, terminal = live()
    screen.show(Question(("? Move",)))
    screen.ask("answer: ")

    screen.ask("")
    screen.show(Note("cancelled"))
    screen.flush()

    assert terminal.screen() == ["? Move", "  cancelled", ""]


def test_the_board_below_a_withdrawn_question_is_drawn_again_in_place() -> None:
    screen, terminal = live()
    board = opened("a")
    screen.show(Changed(board, tuple(board.rows)))
    screen.show(Question(("? Move",)))
    screen.ask("answer: ")

    screen.show(moved(board, "a", "in_progress"))
    screen.ask("")
    screen.show(moved(board, "a", "failed"))
    screen.flush()

    assert terminal.screen() == ["  . a", "? Move", "  x a", ""]


def test_a_board_higher_than_the_screen_shows_where_things_happen() -> None:
    screen, terminal = live()
    board = opened(*(f"step {n}" for n in range(30)))
    for number in range(20):
        moved(board, f"step {number}", "completed")
    screen.show(moved(board, "step 20", "in_progress"))
    screen.flush()

    lines = terminal.screen()

    assert len(lines) <= 10
    assert "  > step 20" in lines
    assert lines[0] == "  … 17 above"
    assert lines[-2] == "  … 7 below"


def test_a_problem_in_mid_turn_goes_above_the_board() -> None:
    screen, terminal = live()
    board = opened("a")
    screen.show(Changed(board, tuple(board.rows)))
    screen.flush()

    screen.show(Problem("trouble"))
    screen.flush()

    assert terminal.screen() == ["trouble", "  . a", ""]


def test_json_that_would_fill_the_screen_is_cut_there_and_whole_in_a_pipe() -> None:
    record = '{"status":"ok","steps":"' + 100 * "x" + '"}'
    screen, terminal = live()
    out = io.StringIO()
    plain = PlainScreen(out, out, ASCII, lambda: 0)

    screen.show(Said(record + "\n", "agent"))
    screen.flush()
    plain.show(Said(record + "\n", "agent"))

    assert terminal.screen() == ['{"status":"ok","ste… (--json shows all)', ""]
    assert out.getvalue() == record + "\n"


def test_plain_lines_come_in_order_and_never_inside_another() -> None:
    out, errors = io.StringIO(), io.StringIO()
    screen = PlainScreen(out, errors, ASCII, lambda: 0)
    board = opened("a", "b")

    screen.show(Changed(board, tuple(board.rows)))
    screen.show(Said("half a ", "agent"))
    screen.show(Said("line\nand half", "agent"))
    screen.show(moved(board, "a", "completed"))
    screen.show(Said("hmm", "thought"))
    screen.show(Said("so\x1b[31m red", "agent"))
    screen.show(Problem("trouble"))
    screen.show(TurnOver(board, tuple(board.stop(0)), "end_turn"))
    screen.close()

    assert out.getvalue().splitlines() == [
        "  . a",
        "  . b",
        "half a line",
        "and half",
        "  + a",
        "  hmm",
        "so red",
        "  ! b  stopped",
        "  turn over: end_turn",
    ]
    assert errors.getvalue() == "trouble\n"
