"""The example client tests pass, fail for the client that trusts its agent, and can be replayed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FAULTS = ROOT / "examples" / "faults"


def run_pytest(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=FAULTS,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


@pytest.mark.slow
def test_the_careful_client_and_the_sdk_pass() -> None:
    run = run_pytest()

    assert run.returncode == 0, run.stdout + run.stderr
    assert "11 passed" in run.stdout
    assert run.stderr == ""  # nothing is left that complains when it is collected


def test_the_client_that_trusts_its_agent_fails() -> None:
    run = run_pytest("test_client.py", "-k", "broken_line or dies", CLIENT="naive")

    assert run.returncode == 1, run.stdout
    assert "2 failed" in run.stdout


def test_a_run_without_our_fixtures_imports_nothing_of_ours_but_the_plugin(tmp_path: Path) -> None:
    test = tmp_path / "test_other.py"
    test.write_text(
        "import sys\n"
        "def test_it():\n"
        "    ours = {'actors', 'ops', 'protocol', 'runtimes'}\n"
        "    found = {name for name in sys.modules if name.split('.')[0] in ours}\n"
        "    assert found == {'runtimes', 'runtimes.chantry', 'runtimes.chantry.pytest_plugin'}\n",
        encoding="utf-8",
    )

    run = run_pytest(str(test), f"--rootdir={tmp_path}", "-c", "/dev/null")

    assert run.returncode == 0, run.stdout
