"""The guide to faults says what the code says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from actors.fault_plan import INVARIANTS, KINDS
from runtimes.fault_file import read_plan
from runtimes.fault_points import all_points
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
PLANS = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize(("name", "about"), [*KINDS.items(), *INVARIANTS.items()])
def test_every_fault_and_every_invariant_is_in_its_table(name: str, about: str) -> None:
    assert f"| `{name}` | {about} |" in GUIDE


@pytest.mark.parametrize("text", PLANS)
def test_every_plan_in_it_can_work(text: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")

    assert read_plan(str(path), all_points()).faults


def test_every_example_plan_is_in_its_table() -> None:
    for path in (ROOT / "examples" / "faults").glob("*.toml"):
        assert f"| `{path.stem}` |" in GUIDE
