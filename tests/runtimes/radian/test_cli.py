"""radian says what it can do, and refuses the rest."""

from __future__ import annotations

import subprocess

import pytest

from tests.scripts import script


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help_says_that_the_agent_is_not_there_yet(words: list[str]) -> None:
    run = subprocess.run([script("radian"), *words], capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")
    assert "This version has no commands" in run.stdout


def test_an_unknown_command_is_refused_by_name() -> None:
    run = subprocess.run([script("radian"), "acp"], capture_output=True, text=True, check=False)

    assert (run.returncode, run.stdout) == (2, "")
    assert "No such command 'acp'" in run.stderr


def test_version_is_the_packages() -> None:
    run = subprocess.run(
        [script("radian"), "--version"], capture_output=True, text=True, check=True
    )

    assert run.stdout == "radian 0.1.0\n"
