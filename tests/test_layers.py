"""The import contracts hold, and each is proven by an import that breaks it."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = ("actors", "ops", "protocol", "runtimes")

PLANTED = [
    ("protocol/planted.py", "import actors.work", "runtimes over actors and ops"),
    ("protocol/planted.py", "import ops.model", "runtimes over actors and ops"),
    ("ops/planted.py", "import actors.work", "runtimes over actors and ops"),
    ("actors/planted.py", "import ops.model", "runtimes over actors and ops"),
    ("actors/planted.py", "import runtimes.radian.cli", "runtimes over actors and ops"),
    ("runtimes/radian/planted.py", "import runtimes.chant.entry", "chant and radian do not know"),
    ("runtimes/chant/planted.py", "import runtimes.radian.cli", "chant and radian do not know"),
    ("runtimes/models/planted.py", "import runtimes.radian.cli", "chant and radian do not know"),
    *(
        ("protocol/planted.py", f"import {module}", "protocol is pure")
        for module in ("os", "sys", "time", "threading", "loguru", "pykka", "socket", "asyncio")
    ),
    ("ops/planted.py", "import pykka", "ops knows neither"),
    ("ops/planted.py", "import click", "ops knows neither"),
    ("ops/planted.py", "import croniter", "croniter only in ops.cron"),
    ("runtimes/chant/planted.py", "import croniter", "croniter only in ops.cron"),
    ("ops/planted.py", "import runtimes.models.base", "ops and actors know no provider"),
    ("actors/planted.py", "import runtimes.models.base", "ops and actors know no provider"),
    ("runtimes/chant/planted.py", "import click", "click only in cli"),
    ("actors/planted.py", "import click", "click only in cli"),
]


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script("lint-imports"), "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def _copy(folder: Path) -> None:
    """Copy our packages; bytecode and caches stay behind."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", folder)


def test_all_contracts_are_kept() -> None:
    run = _lint(ROOT)

    assert run.returncode == 0, run.stdout
    assert "0 broken" in run.stdout


@pytest.mark.parametrize(("file", "line", "contract"), PLANTED)
def test_a_planted_import_breaks_its_contract(
    tmp_path: Path, file: str, line: str, contract: str
) -> None:
    _copy(tmp_path)
    planted = tmp_path / file
    planted.parent.mkdir(exist_ok=True)
    planted.parent.joinpath("__init__.py").touch()
    planted.write_text(f'"""Planted."""\n{line}\n')

    run = _lint(tmp_path)

    broken = [row for row in run.stdout.splitlines() if " BROKEN" in row]
    assert run.returncode == 1, run.stdout + run.stderr
    assert any(row.startswith(contract) for row in broken), run.stdout
