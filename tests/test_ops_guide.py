"""docs/ops.md: what it shows is real."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from ops.checking import check_catalog
from ops.loading import load_catalog
from ops.project import find_project
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = re.compile(r"^```(?:toml|python)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

MAKES_OWN = frozenset({"MAKEFLAGS", "MAKELEVEL", "MFLAGS"})


@pytest.fixture
def shown() -> dict[str, str]:
    return dict(BLOCK.findall((ROOT / "docs" / "ops.md").read_text(encoding="utf-8")))


def lay_out(folder: Path, shown: dict[str, str]) -> None:
    for name, text in shown.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


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
    lay_out(tmp_path, shown)

    found = load_catalog(find_project(str(tmp_path)))

    assert check_catalog(found) == ()
    assert sorted(found.ops) == ["nightly-report", "release", "weigh"]
    assert list(found.activities) == ["measure"]


def test_the_op_in_python_runs_to_its_end(tmp_path: Path, shown: dict[str, str]) -> None:
    lay_out(tmp_path, shown)
    (tmp_path / "Makefile").write_text("dist:\n\t@echo Makefile\n", encoding="utf-8")
    compare = tmp_path / "tools" / "compare"
    compare.write_text('#!/bin/sh\necho "compared $1 with $2"\n', encoding="utf-8")
    compare.chmod(0o755)

    # Below `make test`, the guide's own `make` would say which folder it enters.
    env = {name: value for name, value in os.environ.items() if name not in MAKES_OWN}
    run = subprocess.run(
        [script("chant"), "run", "weigh", "--no-ledger"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "compared 22 with 1000000" in run.stdout
