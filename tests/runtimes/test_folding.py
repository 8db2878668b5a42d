"""Tables on terminals that are narrower than they are."""

from __future__ import annotations

import contextlib
import os
import subprocess
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.chant.columns import columns
from runtimes.folding import folded
from tests.scripts import script

RUNS = [
    (
        "release",
        "gated at deploy-window",
        "2026-11-30 22:05:28Z",
        "165 ms",
        "20261130-220528453-d0b6",
    ),
    ("other", "ok", "2026-11-30 22:05:28Z", "1.2 s", "20261130-220528453-d0b7"),
]
WORDS = st.lists(st.text("ab-", min_size=1, max_size=30), min_size=1, max_size=5).map(" ".join)
ROWS = st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=4)


def test_what_fits_is_left_alone() -> None:
    text = "\n".join(columns(RUNS, "  "))

    assert folded(text, max(map(len, text.split("\n")))) == text


def test_a_column_that_does_not_fit_goes_on_a_line_of_its_own_whole() -> None:
    assert folded("\n".join(columns(RUNS, "  ")), 70).split("\n") == [
        "  release  gated at deploy-window  2026-11-30 22:05:28Z  165 ms",
        "      20261130-220528453-d0b6",
        "  other    ok                      2026-11-30 22:05:28Z  1.2 s",
        "      20261130-220528453-d0b7",
    ]


def test_prose_goes_on_below_itself() -> None:
    assert folded("release  Build and test the service", 30).split("\n") == [
        "release  Build and test the",
        "         service",
    ]


def test_a_command_is_never_broken() -> None:
    command = "chant approve release deploy-window --approver <you>"

    assert folded(f"  Open?  {command}", 40) == f"  Open?  {command}"
    assert folded(f"  release at deploy-window  closed  {command}", 40).endswith(
        f"\n      {command}"
    )


@given(ROWS, st.integers(1, 100))
def test_folding_loses_no_word(rows: list[list[str]], width: int) -> None:
    text = "\n".join(columns(rows))

    assert folded(text, width).split() == text.split()


@pytest.mark.parametrize(
    "argv", [("chantry", "faults", "list"), ("chantry", "simulate", "--list")], ids=" ".join
)
def test_tables_of_the_tools_fit_a_terminal(argv: tuple[str, ...]) -> None:
    screen, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 70))
    shown = b""
    with subprocess.Popen(
        [script(argv[0]), *argv[1:]], stdin=subprocess.DEVNULL, stdout=terminal
    ) as tool:
        os.close(terminal)
        with os.fdopen(screen, "rb", buffering=0) as read, contextlib.suppress(OSError):
            while piece := read.read(4096):  # until nobody has the terminal any more: EIO
                shown += piece
        assert tool.wait(timeout=60) == 0

    lines = shown.decode().splitlines()
    assert any(line.startswith("    ") for line in lines)
    assert max(map(len, lines)) <= 70
