"""Updates in, rows out."""

from __future__ import annotations

from protocol.acp.updates import PlanEntry, PlanUpdate, ToolCall, ToolCallUpdate, ToolText
from runtimes.chantry.board import Board, Row
from runtimes.chantry.marks import look

ASCII = look(unicode=False, colour=False)


def drawn(board: Board, now_s: float = 0, width: int = 80) -> list[str]:
    return [ASCII.row(row, now_s, width) for row in board.rows]


def test_a_plan_arrives_up_front_and_fills_in() -> None:
    board = Board()
    for name in ("a", "b", "c"):
        board.apply(ToolCall(tool_call_id=name, title=f"Build / {name}", status="pending"), 0)

    board.apply(ToolCallUpdate(tool_call_id="a", status="in_progress"), 10)
    board.apply(ToolCallUpdate(tool_call_id="a", status="completed"), 12.5)
    board.apply(ToolCallUpdate(tool_call_id="b", status="in_progress"), 12.5)

    assert drawn(board, 15.5) == ["  + Build / a  2.5 s", "  > Build / b  3.0 s", "  . Build / c"]


def test_a_failure_says_why() -> None:
    board = Board()
    board.apply(ToolCall(tool_call_id="raw", title="raw"), 0)
    board.apply(ToolCall(tool_call_id="text", title="text"), 0)

    raw = {"error": "exit code 2\nTraceback"}
    board.apply(ToolCallUpdate(tool_call_id="raw", status="failed", raw_output=raw), 0)
    content = (ToolText("\n  no such file"),)
    board.apply(ToolCallUpdate(tool_call_id="text", status="failed", content=content), 0)

    assert drawn(board) == ["  x raw  exit code 2", "  x text  no such file"]


def test_a_call_that_is_over_and_never_ran_is_skipped() -> None:
    board = Board()
    board.apply(ToolCall(tool_call_id="s", title="s"), 0)

    raw = {"status": "skipped"}
    board.apply(ToolCallUpdate(tool_call_id="s", status="completed", raw_output=raw), 0)

    assert drawn(board) == ["  - s  skipped"]


def test_a_call_that_waits_for_people_is_not_done() -> None:
    board = Board()
    board.apply(ToolCall(tool_call_id="g", title="g", status="in_progress"), 0)

    content = (ToolText("waiting at the gate"),)
    raw = {"status": "gated"}
    settled = ToolCallUpdate(tool_call_id="g", status="completed", raw_output=raw, content=content)
    board.apply(settled, 0)

    assert drawn(board) == ["  ? g  waiting at the gate"]


def test_calls_of_one_title_are_told_apart_by_what_they_were_called_with() -> None:
    board = Board()
    for name, raw in (
        ("a", {"argv": ["make", "test"]}),
        ("b", {"cmd": "make dist"}),
        ("c", {"url": {"param": "health_url"}, "interval": "200ms"}),
        ("d", {"path": "step"}),
        ("e", {"argv": ["echo", {"from": "ask", "path": "answer"}, 7]}),
    ):
        board.apply(ToolCall(tool_call_id=name, title="step", raw_input=raw), 0)

    board.apply(ToolCallUpdate(tool_call_id="c", raw_input={"url": "http://box"}), 0)

    assert drawn(board) == [
        "  . step  make test",
        "  . step  make dist",
        "  . step  http://box",
        "  . step",
        "  . step  echo … 7",
    ]


def test_an_update_that_changes_nothing_to_be_seen_changes_no_row() -> None:
    board = Board()
    board.apply(ToolCall(tool_call_id="a", title="a", status="in_progress"), 0)

    content = (ToolText("more output"),)
    same = ToolCallUpdate(tool_call_id="a", status="in_progress", content=content)

    assert board.apply(same, 1) == []
    assert board.apply(ToolCallUpdate(tool_call_id="a", content=content), 1) == []


def test_a_call_that_nobody_opened_gets_a_row_all_the_same() -> None:
    board = Board()

    board.apply(ToolCallUpdate(tool_call_id="lost", status="completed"), 0)

    assert drawn(board) == ["  + lost"]


def test_the_end_of_the_turn_stops_what_is_open() -> None:
    board = Board()
    board.apply(ToolCall(tool_call_id="a", title="a", status="completed"), 0)
    board.apply(ToolCall(tool_call_id="b", title="b", status="in_progress"), 0)
    board.apply(ToolCall(tool_call_id="c", title="c"), 0)

    stopped = board.stop(4)

    assert [row.title for row in stopped] == ["b", "c"]
    assert drawn(board) == ["  + a", "  ! b  4.0 s, stopped", "  ! c  stopped"]


def test_a_plan_is_replaced_as_a_whole_and_only_changes_are_news() -> None:
    board = Board()
    board.apply(PlanUpdate((PlanEntry("look"), PlanEntry("edit"))), 0)

    changed = board.apply(PlanUpdate((PlanEntry("look", status="completed"), PlanEntry("edit"))), 0)

    assert changed == [Row("look", "done")]
    assert drawn(board) == ["  + look", "  . edit"]


def test_a_title_cannot_leave_its_line() -> None:
    board = Board()

    board.apply(ToolCall(tool_call_id="t", title="\x1b[2J" + "long " * 30 + "\nsecond"), 0)
    (line,) = drawn(board, width=20)

    assert line == "  . long long long …"
