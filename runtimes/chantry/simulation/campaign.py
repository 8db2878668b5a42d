"""Plays many seeds on several processes and adds up what came of them."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from actors import logs
from actors.simulation.backend import make_backend
from actors.simulation.schedule import play
from runtimes.chantry.simulation.registry import scenario_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.sharedctypes import Synchronized

    from actors.fault_plan import FaultPlan
    from actors.simulation.backend import Backend, BackendName
    from actors.simulation.policies import PolicyName
    from actors.simulation.schedule import Schedule

CHUNK = 20
"""Seeds that a process takes at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What is to be played."""

    seeds: range
    scenario: str | None = None
    """None: each seed plays the one it falls on."""
    plan: FaultPlan | None = None
    """None: each seed draws its own."""
    policy: PolicyName | None = None
    backend: BackendName = "threads"
    jobs: int = 1
    fail_fast: bool = False
    """Play nothing more once a rule was broken."""


@dataclass(frozen=True, slots=True)
class Found:
    """A seed that broke rules."""

    scenario: str
    seed: int
    violations: tuple[str, ...]
    faults: tuple[str, ...]
    """Those that fired, in order."""
    trace: tuple[str, ...]
    """Shortened."""
    trace_hash: str


@dataclass(slots=True)
class Tally:
    """Sums over schedules."""

    schedules: int = 0
    points: int = 0
    """Scheduling points."""
    fired: int = 0
    """Faults."""
    seconds: float = 0.0
    """Real ones, from the start."""
    found: list[Found] = field(default_factory=list[Found])

    def add(self, other: Tally) -> None:
        """Add the sums of a chunk."""
        self.schedules += other.schedules
        self.points += other.points
        self.fired += other.fired
        self.found += other.found

    def count(self, schedule: Schedule) -> None:
        """Add one schedule."""
        self.schedules += 1
        self.points += schedule.points
        self.fired += len(schedule.fired)
        if schedule.violations:
            self.found.append(_found(schedule))


def run(campaign: Campaign, progress: Callable[[Tally], None]) -> Tally:
    """Play all seeds; ``progress`` is called now and then with the sums so far."""
    tally, began = Tally(), time.monotonic()
    for chunk in _results(campaign):
        tally.add(chunk)
        tally.seconds = time.monotonic() - began
        progress(tally)
        if tally.found and campaign.fail_fast:
            break
    return tally


def play_one(campaign: Campaign, seed: int, backend: Backend) -> Schedule:
    """Play one seed of a campaign."""
    plan = campaign.plan
    if plan is not None:
        # Each seed draws its own probabilities from the plan's seed and its own.
        plan = replace(plan, seed=plan.seed * 1_000_003 + seed)
    scenario = scenario_for(seed, campaign.scenario)
    return play(scenario, seed, backend, campaign.policy, plan)


def quiet() -> None:
    """Let the code under test log nowhere: crashes are its daily bread here."""
    logs.mute()
    logging.getLogger("pykka").disabled = True


def _results(campaign: Campaign) -> Iterator[Tally]:
    starts = range(campaign.seeds.start, campaign.seeds.stop, CHUNK)
    chunks = [range(at, min(at + CHUNK, campaign.seeds.stop)) for at in starts]
    if campaign.jobs == 1:
        _begin(campaign, None)
        yield from map(_play_chunk, chunks)
        return
    # Forked: the children have all modules at once, and no thread has been started yet.
    context = multiprocessing.get_context("fork")
    counter = context.Value("i", 0)
    with context.Pool(campaign.jobs, _begin, (campaign, counter)) as pool:
        yield from pool.imap_unordered(_play_chunk, chunks)


class _Here:
    """What this process plays with; set once, before its first chunk."""

    campaign: Campaign
    backend: Backend


def _begin(campaign: Campaign, counter: Synchronized[int] | None) -> None:
    quiet()
    gc.disable()  # worlds are collected between chunks instead
    if counter is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with counter.get_lock():
            number = counter.value
            counter.value += 1
        _pin(number)
    _Here.campaign, _Here.backend = campaign, make_backend(campaign.backend)


def _pin(number: int) -> None:
    """Stay on one core: a baton is passed on five times as fast there."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[number % len(cores)]})


def _play_chunk(seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        tally.count(play_one(_Here.campaign, seed, _Here.backend))
    gc.collect()
    return tally


def _found(schedule: Schedule) -> Found:
    return Found(
        schedule.scenario,
        schedule.seed,
        tuple(str(violation) for violation in schedule.violations),
        tuple(str(fired) for fired in schedule.fired),
        tuple(schedule.trace.short()),
        schedule.trace.hash,
    )
