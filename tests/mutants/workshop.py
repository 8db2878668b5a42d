"""A copy of the code in which one thing is wrong, and what its tests make of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Literal, TypeAlias

from tests.mutants.mutant import Simulate
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mutants.mutant import Catcher, Mutant

COPIED = ("actors", "examples", "ops", "protocol", "runtimes", "tests")
LEFT = shutil.ignore_patterns("__pycache__", "node_modules", "mutants", "e2e")
LIMIT_S = 120.0
"""A mutant that makes its tests hang is caught too: nobody would overlook that."""
SIMULATE_LIMIT_S = 600.0
"""The simulation never hangs: it says who waits for what, and exits with 1."""
TIMEOUT_OF_A_TEST_S = 30

Outcome: TypeAlias = Literal["passed", "failed", "hung", "broken"]
"""``broken``: the tests could not run, which proves nothing."""

FAILED = 1
"""Exit code of pytest and of ``chantry simulate`` when something was found."""


class Workshop:
    """One copy of the code; a mutant at a time."""

    def __init__(self, folder: Path) -> None:
        """Copy the code to ``folder``, which must be empty."""
        self._folder = folder
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=LEFT)
        shutil.copy(ROOT / "pyproject.toml", folder)
        self.said = ""
        """What the last catcher printed."""

    def apply(self, mutant: Mutant) -> None:
        """Make the wrong change.

        Raises:
            ValueError: The code it changes is no longer there, or there more than once.

        """
        path = self._folder / mutant.file
        path.write_text(changed(mutant, path.read_text(encoding="utf-8")), encoding="utf-8")

    def undo(self, mutant: Mutant) -> None:
        """Make it right again."""
        shutil.copy(ROOT / mutant.file, self._folder / mutant.file)

    def ask(self, catcher: Catcher) -> Outcome:
        """Run what should notice."""
        environ = {**os.environ, "PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"}
        environ["PYTEST_ADDOPTS"] = f"--override-ini=faulthandler_timeout={TIMEOUT_OF_A_TEST_S}"
        try:
            done = subprocess.run(
                [sys.executable, *catcher.words],
                cwd=self._folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=SIMULATE_LIMIT_S if isinstance(catcher, Simulate) else LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            return "hung"
        self.said = done.stdout
        if done.returncode == 0:
            return "passed"
        return "failed" if done.returncode == FAILED else "broken"


def changed(mutant: Mutant, source: str) -> str:
    """Return ``source`` with the mutant's change.

    Raises:
        ValueError: See `Workshop.apply`.

    """
    count = source.count(mutant.old)
    if count != 1:
        message = f"mutant {mutant.name}: {mutant.file} has its text {count} times, not once"
        raise ValueError(message)
    return source.replace(mutant.old, mutant.new)
