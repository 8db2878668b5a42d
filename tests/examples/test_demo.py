"""The demo and the box it plays in, as someone who just cloned the repository runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BOX = ROOT / "examples" / "box"


def test_the_demo_ends_well_with_an_empty_home_and_leaves_nothing(tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary)}

    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    shown = [line.split()[-1] for line in done.stdout.splitlines() if "answers with" in line]
    assert shown == ["1.1.0"] * 4 + ["1.4.0"] * 2 + ["1.5.0"]
    assert "chant approve gated-release deploy-window --approver <you>" in done.stdout
    assert "same-origin" in done.stdout
    assert "proposed by judge at local: yes (90% sure)" in done.stdout
    assert "answer-in-steward-turn" in done.stdout
    assert (list(home.iterdir()), list(temporary.iterdir())) == ([], [])


def test_the_tests_of_the_box_pass_as_its_makefile_runs_them() -> None:
    done = subprocess.run(
        ["make", "-s", "-C", str(BOX), "test", f"PYTHON={sys.executable} -B"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert "Ran 13 tests" in done.stderr
