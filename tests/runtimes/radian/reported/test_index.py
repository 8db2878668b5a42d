"""The index of reported faults names tests that exist, and leaves no fault out."""

from __future__ import annotations

import re

import pytest

from tests.runtimes.radian.reported.index import CASES
from tests.shared import ROOT, shared_path


@pytest.mark.parametrize("case", CASES)
def test_every_test_that_the_index_names_exists(case: str) -> None:
    for name in CASES[case]:
        path, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), name


def test_every_fault_on_the_list_has_a_row() -> None:
    text = shared_path("cases", "reported-faults.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\*\*(B\d+) ", text, flags=re.MULTILINE)

    assert list(CASES) == listed
