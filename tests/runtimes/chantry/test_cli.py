"""What chantry says of itself, and of a number that is none."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from runtimes.chantry.cli import chantry
from runtimes.chantry.simulation.campaign import Campaign, Tally
from runtimes.chantry.simulation.report import summary


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


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (1, "1 schedule in 1.0 s (1/s on 1 process): 1 fault fired, 0 violations"),
        (2, "2 schedules in 1.0 s (2/s on 2 processes): 2 faults fired, 0 violations"),
    ],
)
def test_a_campaign_is_summed_up_in_words(number: int, told: str) -> None:
    tally = Tally(schedules=number, fired=number, seconds=1.0)

    assert summary(tally, Campaign(seeds=range(number), jobs=number)) == told
