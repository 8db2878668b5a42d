"""The guide to permissions has the table that the code has."""

from __future__ import annotations

from runtimes.radian.profiles import ROWS, TABLE
from tests.shared import ROOT


def test_the_table_of_profiles_is_that_of_the_code() -> None:
    guide = (ROOT / "docs/permissions.md").read_text(encoding="utf-8").splitlines()
    rows = [f"| {about} | {' | '.join(TABLE[row])} |" for row, about in ROWS.items()]

    first = guide.index(rows[0])
    assert guide[first : first + len(rows)] == rows
