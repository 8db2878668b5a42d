"""radian says what it can do, and refuses the rest."""

from __future__ import annotations

import subprocess

import pytest

from runtimes.radian.exec_flags import FLAGS
from tests.scripts import script


def radian(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([script("radian"), *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [["--help"], ["-h"]])
def test_help_lists_the_commands(words: list[str]) -> None:
    run = radian(*words)

    assert (run.returncode, run.stderr) == (0, "")
    assert "exec" in run.stdout


def test_the_help_of_exec_shows_every_flag() -> None:
    run = radian("exec", "--help")

    assert (run.returncode, run.stderr) == (0, "")
    assert [flag.name for flag in FLAGS if flag.name not in run.stdout] == []


def test_an_unknown_command_is_refused_by_name() -> None:
    run = radian("dance")

    assert (run.returncode, run.stdout) == (2, "")
    assert "No such command 'dance'" in run.stderr


def test_version_is_the_packages() -> None:
    run = radian("--version")

    assert (run.returncode, run.stdout) == (0, "radian 0.1.0\n")
