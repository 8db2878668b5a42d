"""Simulated worlds for tests of people's own runtimes and activities."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from actors.simulation.backend import make_backend
from actors.simulation.scenario import EVERYWHERE, Scenario
from actors.simulation.schedule import play
from runtimes.chantry.simulation.campaign import quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.fault_plan import FaultPlan
    from actors.simulation.schedule import Schedule
    from actors.simulation.world import World

MOST_FAULTS = 2
"""That a seed draws."""


def play_seeds(
    scene: Callable[[World], None],
    seeds: Iterable[int],
    plan: FaultPlan | None = None,
    replay: str = "",
) -> list[Schedule]:
    """Play ``scene`` once for each seed and return the schedules.

    Args:
        scene: Gets a fresh world, serves a runtime in it, talks to it and waits for its end.
        seeds: Each is one order of events.
        plan: What goes wrong; None: each seed draws up to two crashes and delays, or none.
        replay: How to play one seed again, for the message; ``{seed}`` stands for it.

    Raises:
        AssertionError: A rule was broken, or the scene raised; tells seed, faults and trace.

    """
    quiet()
    scenario = Scenario(getattr(scene, "__name__", "scene"), "", scene, MOST_FAULTS, EVERYWHERE)
    schedules: list[Schedule] = []
    with closing(make_backend("threads")) as backend:
        for seed in seeds:
            schedule = play(scenario, seed, backend, plan=plan)
            if schedule.violations:
                raise AssertionError(_told(schedule, replay.format(seed=seed)))
            schedules.append(schedule)
    return schedules


def _told(schedule: Schedule, replay: str) -> str:
    faults = ", ".join(map(str, schedule.fired)) or "none"
    lines = [
        f"seed {schedule.seed} of {schedule.scenario} broke a rule",
        *(f"  {violation}" for violation in schedule.violations),
        f"  faults: {faults}",
        *(f"    {line}" for line in schedule.trace.short()),
    ]
    return "\n".join([*lines, f"  replay: {replay}"] if replay else lines)
