"""What chantry says of itself, and of a number that is none."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from runtimes.chantry.cli import chantry


def test_every_command_is_told_in_a_whole_line() -> None:
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(chantry, ["--help"]).output

    commands = shown.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in commands] == ["drive", "faults", "simulate"]
    assert [line for line in commands if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize("flag", ["--seeds", "--first", "--seed", "--jobs"])
def test_a_number_that_is_none_is_refused_in_plain_words(flag: str) -> None:
    run = CliRunner().invoke(chantry, ["simulate", flag, "x"])

    assert run.exit_code == 2
    assert f"Invalid value for '{flag}': 'x' is not a valid whole number." in run.output
