"""Thousands of schedules of both actor layer and chant, and seeds that once broke a rule."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from actors.fault_plan import FaultPlan, PlannedFault
from actors.gate import Gate
from actors.simulation.backend import make_backend
from actors.simulation.schedule import play
from runtimes.chantry.simulation.registry import SCENARIOS
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from actors.simulation.schedule import Schedule

ONCE_BROKEN = [
    ("cancels", 501, "a cancel overtook the start of a turn that the executor had picked up"),
    ("stream", 701, "a question was lost with the voice of its turn, and nobody answered it"),
    ("late-cancels", 2201, "a step whose start crashed the executor twice was waited for"),
    ("ended-runs", 1174, "a turn's speaker outlives a server in a hurry, but not its process"),
]
"""Scenario, seed, and what it showed.  A change of the code may give a seed another schedule; the
plans below find the same whatever the schedule is."""

PLANS = {
    "a step can't be started": (
        "stream",
        PlannedFault(point="executor.start", fault="crash", hit=1, times=2),
    ),
    "a turn loses its voice": (
        "crashes",
        PlannedFault(point="outlet.speak", fault="crash", hit=1),
    ),
    "the router trips twice": (
        "cancels",
        PlannedFault(point="actor.receive", who="router", fault="crash", hit=4, times=2),
    ),
    "a step is started by an executor that crashes": (
        "crashes",
        PlannedFault(point="executor.started", fault="crash", hit=1),
    ),
    "the ledger's disk is full": (
        "full-disk",
        PlannedFault(point="file.write", fault="error", errno="ENOSPC", hit=2, times=50),
    ),
    "everything is slow": (
        "runs",
        PlannedFault(point="actor.receive", fault="delay", seconds=0.5, probability=0.05),
    ),
}


def played(name: str, seed: int, plan: FaultPlan | None = None) -> Schedule:
    with closing(make_backend("threads")) as backend:
        return play(SCENARIOS[name], seed, backend, plan=plan)


@pytest.mark.slow
def test_two_thousand_seeds_keep_every_rule() -> None:
    """In a process of their own: worlds are played with the collector off and logging muted."""
    done = subprocess.run(
        [script("chantry"), "simulate", "--seeds", "2000", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    found = json.loads(done.stdout)

    assert found["violations"] == []
    assert found["schedules"] == 2000
    assert found["faults_fired"] > 300
    assert done.returncode == 0


@pytest.mark.parametrize(("name", "seed", "about"), ONCE_BROKEN)
def test_a_seed_that_broke_a_rule_does_not_break_it_again(name: str, seed: int, about: str) -> None:
    assert played(name, seed).violations == (), about


@pytest.mark.parametrize("what", PLANS)
def test_a_plan_breaks_no_rule_in_any_schedule(what: str) -> None:
    name, fault = PLANS[what]

    schedules = [played(name, seed, FaultPlan(faults=(fault,))) for seed in range(15)]

    assert any(schedule.fired for schedule in schedules)
    assert [schedule.violations for schedule in schedules] == [()] * len(schedules)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_ends_well_without_faults(name: str) -> None:
    schedule = played(name, 1, FaultPlan(faults=()))

    assert schedule.violations == ()
    assert schedule.fired == ()


@pytest.mark.parametrize("name", ["runs", "agent-jobs", "hooked-agents", "served-agents"])
def test_a_seed_has_one_trace_whatever_the_hash_seed_is(name: str) -> None:
    def trace(hash_seed: str, backend: str) -> object:
        words = ("simulate", "--scenario", name, "--seed", "5", "--json", "--backend", backend)
        done = subprocess.run(
            [script("chantry"), *words],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            timeout=60,
        )
        return json.loads(done.stdout)["trace_hash"]

    traces = {
        trace(hash_seed, backend) for hash_seed in ("0", "7") for backend in ("threads", "greenlet")
    }

    assert len(traces) == 1


def test_a_plan_is_injected_and_its_suspended_rules_are_not_judged() -> None:
    crash = PlannedFault(point="outlet.speak", fault="crash", hit=1)
    plan = FaultPlan(faults=(crash,), suspends=("answers",))

    schedule = played("basic", 5, plan)

    assert [fired.point for fired in schedule.fired] == ["outlet.speak"]
    assert schedule.violations == ()


def test_a_broken_rule_is_found_and_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gate.__init__, "__defaults__", (1_000,))

    first = next(each for seed in range(40) if (each := played("slow-client", seed)).violations)
    again = played("slow-client", first.seed)

    assert "capacity" in {violation.rule for violation in first.violations}
    assert any("VIOLATION capacity" in line for line in first.trace.short())
    assert again.trace.hash == first.trace.hash


def test_the_command_line_prints_a_trace_hash_and_lists_scenarios() -> None:
    words = [script("chantry"), "simulate"]
    one = subprocess.run(
        [*words, "--scenario", "basic", "--seed", "4"], capture_output=True, text=True, check=True
    )
    names = subprocess.run([*words, "--list"], capture_output=True, text=True, check=True)
    wrong = subprocess.run(
        [*words, "--scenario", "nonsense"], capture_output=True, text=True, check=False
    )

    assert "basic, seed 4: trace " in one.stdout
    assert {line.split()[0] for line in names.stdout.splitlines()} == set(SCENARIOS)
    assert wrong.returncode == 2
    assert "no scenario 'nonsense'; known: basic, " in wrong.stderr


def test_what_simulated_servers_say_is_for_nobody() -> None:
    words = ("simulate", "--scenario", "killed-agents", "--seeds", "60", "--json")

    run = subprocess.run([script("chantry"), *words], capture_output=True, text=True, check=True)

    told = [line for line in run.stderr.splitlines() if "violations" not in line]
    assert told == []
