"""Changes as a client is shown them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protocol.acp.cutting import json_size
from protocol.acp.updates import ToolDiff
from runtimes.radian.shown_diff import LINES_AROUND, shown_diff
from runtimes.radian.tools.base import Diff

LINES = [f"{number}\n" for number in range(10_000)]
LIMIT = 24 * 1024


def test_a_change_that_fits_is_shown_whole() -> None:
    assert shown_diff(Diff("/f", "a\n", "b\n"), LIMIT) == ToolDiff("/f", "a\n", "b\n")
    assert shown_diff(Diff("/f", None, "b\n"), LIMIT) == ToolDiff("/f", None, "b\n")


def test_of_a_long_file_the_lines_around_the_change_are_shown() -> None:
    after = [*LINES[:5000], "here\n", *LINES[5001:]]

    shown = shown_diff(Diff("/f", "".join(LINES), "".join(after)), LIMIT)

    around = slice(5000 - LINES_AROUND, 5001 + LINES_AROUND)
    assert shown == ToolDiff("/f", "".join(LINES[around]), "".join(after[around]))


def test_a_line_more_at_either_end_is_shown_as_one_line_more() -> None:
    whole = "".join(LINES)

    first = shown_diff(Diff("/f", whole, f"here\n{whole}"), LIMIT)
    last = shown_diff(Diff("/f", whole, f"{whole}here\n"), LIMIT)

    around = "".join(LINES[:LINES_AROUND])
    assert (first.old_text, first.new_text) == (around, f"here\n{around}")
    around = "".join(LINES[-LINES_AROUND:])
    assert (last.old_text, last.new_text) == (around, f"{around}here\n")


def test_a_long_change_keeps_its_ends_and_says_what_is_missing() -> None:
    new = "".join(LINES)

    shown = shown_diff(Diff("/f", None, new), LIMIT)

    assert shown.new_text.startswith("0\n1\n")
    assert shown.new_text.endswith("9999\n")
    assert "characters left out" in shown.new_text


@given(old=st.none() | st.text(max_size=600), new=st.text(max_size=600))
def test_no_change_is_shown_longer_than_allowed(old: str | None, new: str) -> None:
    shown = shown_diff(Diff("/f", old, new), 400)

    assert json_size(shown.old_text) + json_size(shown.new_text) <= 400
