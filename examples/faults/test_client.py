"""A client against an agent that breaks on purpose.  Run: ``pytest examples/faults``.

``CLIENT=naive`` tests the client that trusts its agent, and fails.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from client import CarefulClient, NaiveClient, Turn

PROMPT = "run hello --no-ledger"
CLIENT = NaiveClient if os.environ.get("CLIENT") == "naive" else CarefulClient


def run(agent) -> Turn:
    return CLIENT(agent.start()).run(str(HERE / "project"), PROMPT)


def test_a_working_agent_completes_every_step(broken_agent):
    turn = run(broken_agent())

    assert turn.how == "end_turn"
    assert set(turn.steps.values()) == {"completed"}


@pytest.mark.parametrize("plan", ["slow-stream", "out-of-pace", "repeated-update"])
def test_a_turn_ends_well_whatever_its_pace(broken_agent, plan):
    agent = broken_agent(HERE / f"{plan}.toml")

    turn = run(agent)

    assert turn.how == "end_turn"
    assert agent.fired()


@pytest.mark.timeout(20)
def test_an_answer_that_never_comes_is_given_up(broken_agent, monkeypatch):
    monkeypatch.setattr(CarefulClient, "patience_s", 2.0)

    assert run(broken_agent(HERE / "no-answer.toml")).how == "silent"


def test_an_agent_that_dies_is_told_from_one_that_is_done(broken_agent):
    assert run(broken_agent(HERE / "dies-in-turn.toml")).how == "dead, exit code 3"


def test_last_words_on_stdout_are_no_message(broken_agent):
    turn = run(broken_agent(HERE / "garbage-crash.toml"))

    assert turn.how == "dead, exit code 1"
    assert turn.strange == 3


def test_a_broken_line_costs_that_line_only(broken_agent):
    turn = run(broken_agent(HERE / "broken-line.toml"))

    assert turn.how == "end_turn"
    assert turn.strange == 2
