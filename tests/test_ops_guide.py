"""docs/ops.md: what it shows is real."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ops.checking import check_catalog
from ops.loading import load_catalog
from ops.project import find_project
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = re.compile(r"^```(?:toml|python)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def shown() -> dict[str, str]:
    return dict(BLOCK.findall((ROOT / "docs" / "ops.md").read_text(encoding="utf-8")))


def test_the_files_of_the_guide_are_a_project_without_findings(
    tmp_path: Path, shown: dict[str, str]
) -> None:
    assert sorted(shown) == [
        "chant.toml",
        "ops/nightly-report.op.toml",
        "ops/release.op.toml",
        "ops/weigh_op.py",
        "tools/acts.py",
    ]
    for name, text in shown.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    found = load_catalog(find_project(str(tmp_path)))

    assert check_catalog(found) == ()
    assert sorted(found.ops) == ["nightly-report", "release", "weigh"]
    assert list(found.activities) == ["measure"]
