"""Foreign text on its way to a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.chantry.text import Lines, cells, clip, duration, first_line, printable


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("10 %\r20 %\r100 %", "100 %"),
        ("windows\r", "windows"),
        ("a\tb", "a    b"),
        ("bell\x07 null\x00", "bell null"),
        ("abc\u202edcba", "abcdcba"),
        ("grün 箱", "grün 箱"),
    ],
)
def test_what_would_move_the_cursor_is_taken_out(said: str, shown: str) -> None:
    assert printable(said) == shown


@given(st.text())
def test_printable_text_holds_no_control_characters(text: str) -> None:
    shown = printable(text)

    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)


@given(st.text(), st.integers(1, 40))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert cells(clip(printable(text), width)) <= width


def test_clipped_text_says_so() -> None:
    assert clip("a long title", 6) == "a lon…"
    assert clip("箱箱箱", 4) == "箱…"
    assert clip("fits", 4) == "fits"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0.0 s"), (1.25, "1.2 s"), (12.4, "12 s"), (200.0, "3 min 20 s"), (59.7, "60 s")],
)
def test_durations_get_coarser(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_the_first_line_is_the_first_that_says_anything() -> None:
    assert first_line("\n \n\x1b[1m  exit code 2 \nmore") == "exit code 2"
    assert first_line("") == ""


def test_an_escape_sequence_cut_in_two_does_not_slip_through() -> None:
    lines = Lines()

    assert lines.feed("a\x1b[3") == []
    assert lines.feed("1mb\nc") == ["ab"]
    assert lines.held == "c"
    assert lines.flush() == ["c"]
    assert lines.flush() == []


def test_a_line_without_an_end_is_handed_out_in_pieces() -> None:
    lines = Lines()

    assert lines.feed("x" * (Lines.LIMIT + 1)) == ["x" * (Lines.LIMIT + 1)]
    assert lines.held == ""


@given(st.lists(st.text(alphabet="ab\n", max_size=8)))
def test_chunking_never_changes_the_lines(chunks: list[str]) -> None:
    lines = Lines()

    got = [line for chunk in chunks for line in lines.feed(chunk)] + lines.flush()

    expected = "".join(chunks).split("\n")
    assert got == (expected if expected[-1] else expected[:-1])
