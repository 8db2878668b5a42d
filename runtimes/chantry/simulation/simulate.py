"""``chantry simulate``, below its command line."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from actors.fault_plan import PlanInvalid
from actors.simulation.backend import make_backend
from runtimes.chantry.simulation import report
from runtimes.chantry.simulation.campaign import Campaign, play_one, quiet, run
from runtimes.chantry.simulation.registry import SCENARIOS, scenario_for
from runtimes.fault_file import read_plan
from runtimes.fault_points import all_points

if TYPE_CHECKING:
    from actors.fault_plan import FaultPlan
    from actors.simulation.backend import BackendName
    from actors.simulation.policies import PolicyName

OK, BROKEN, USAGE = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """Checked flags."""

    seeds: int
    first: int
    seed: int | None
    """Play this one alone, and show its trace."""
    scenario: str | None
    faults: str | None
    """A plan's file."""
    policy: PolicyName | None
    backend: BackendName
    jobs: int | None
    """None: as many as there are cores."""
    fail_fast: bool
    json: bool


def simulate(options: SimulateOptions) -> int:
    """Play what is asked for and return the exit code: 1 when a rule was broken."""
    if options.scenario is not None and options.scenario not in SCENARIOS:
        return _refuse(f"no scenario {options.scenario!r}; known: {', '.join(SCENARIOS)}")
    try:
        plan = read_plan(options.faults, all_points()) if options.faults else None
    except PlanInvalid as invalid:
        return _refuse(str(invalid))
    if plan is not None and any(fault.fault == "exit" for fault in plan.faults):
        return _refuse(f"plan {plan.name}: only a real server can exit")
    return _play_one(options, plan) if options.seed is not None else _play_many(options, plan)


def list_scenarios(*, as_json: bool) -> str:
    """Return the scenarios, a line each."""
    if as_json:
        return json.dumps([{"name": s.name, "about": s.about} for s in SCENARIOS.values()])
    width = max(map(len, SCENARIOS))
    return "\n".join(f"{each.name:{width}}  {each.about}" for each in SCENARIOS.values())


def _play_one(options: SimulateOptions, plan: FaultPlan | None) -> int:
    assert options.seed is not None  # noqa: S101 - the caller looked
    quiet()
    campaign = _campaign(options, plan, range(options.seed, options.seed + 1))
    with closing(make_backend(options.backend)) as backend:
        schedule = play_one(campaign, options.seed, backend)
    if options.json:
        document = {
            "scenario": scenario_for(options.seed, options.scenario).name,
            "seed": options.seed,
            "trace_hash": schedule.trace.hash,
            "points": schedule.points,
            "faults": [asdict(fault) for fault in schedule.plan.faults],
            "fired": [str(fired) for fired in schedule.fired],
            "violations": [str(violation) for violation in schedule.violations],
            "trace": schedule.trace.lines(),
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        sys.stdout.write(report.one(schedule) + "\n")
    return BROKEN if schedule.violations else OK


def _play_many(options: SimulateOptions, plan: FaultPlan | None) -> int:
    seeds = range(options.first, options.first + options.seeds)
    campaign = _campaign(options, plan, seeds)
    progress = report.Progress(len(seeds))
    tally = run(campaign, progress.show)
    progress.clear()
    if options.json:
        sys.stdout.write(report.as_json(tally, campaign, options.faults) + "\n")
    else:
        if tally.found:
            sys.stdout.write(report.findings(tally, campaign, options.faults) + "\n\n")
        sys.stdout.write(report.summary(tally, campaign) + "\n")
    return BROKEN if tally.found else OK


def _campaign(options: SimulateOptions, plan: FaultPlan | None, seeds: range) -> Campaign:
    return Campaign(
        seeds=seeds,
        scenario=options.scenario,
        plan=plan,
        policy=options.policy,
        backend=options.backend,
        jobs=options.jobs or len(os.sched_getaffinity(0)),
        fail_fast=options.fail_fast,
    )


def _refuse(reason: str) -> int:
    sys.stderr.write(f"chantry simulate: {reason}\n")
    return USAGE
