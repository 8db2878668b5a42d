"""Tables on terminals that are narrower than they are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtimes.chant.columns import columns, folded

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
