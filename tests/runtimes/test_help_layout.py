"""Help fits the terminal that shows it: two columns, each within its own bounds."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from runtimes.help_layout import LEAST, WIDEST, columns, paragraph, terminal_width

ROWS = [
    ("-a", "one"),
    ("--brief N", "two words or more, as many as fit"),
    ("--" + "x" * 40, "far"),
]


def test_the_right_column_goes_on_below_itself() -> None:
    assert columns(ROWS[:2], 30) == [
        "  -a         one",
        "  --brief N  two words or",
        "             more, as many as",
        "             fit",
    ]


def test_what_is_too_long_for_the_left_column_has_a_line_of_its_own() -> None:
    assert columns(ROWS, 80)[-2:] == ["  --" + "x" * 40, " " * 32 + "far"]


def test_a_paragraph_breaks_between_words_only() -> None:
    assert paragraph("Usage: x --long-flag --other", 20, "       ") == [
        "Usage: x --long-flag",
        "       --other",
    ]


@pytest.mark.parametrize(
    ("said", "width"), [("80", 80), ("400", WIDEST), ("3", LEAST), (None, WIDEST)]
)
def test_help_is_as_wide_as_the_terminal_up_to_what_can_be_read(
    said: str | None, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", _no_terminal)
    if said is not None:
        monkeypatch.setenv("COLUMNS", said)

    assert terminal_width() == width


@pytest.mark.parametrize("said", ["80", " 80 ", "-80", "0", "wide", "", None])
@pytest.mark.parametrize("shown", [77, 0])
def test_the_width_is_what_the_standard_library_finds(
    said: str | None, shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda _fd: os.terminal_size((shown, 24)))
    monkeypatch.setattr(sys, "__stdout__", sys.__stderr__)  # the runner may have closed it
    if said is not None:
        monkeypatch.setenv("COLUMNS", said)

    assert terminal_width() == shutil.get_terminal_size((WIDEST, 24)).columns


def _no_terminal(_fd: int) -> os.terminal_size:
    raise OSError
