"""One schedule: a scenario, a seed and a plan, played to the end and judged."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from pykka import ActorRegistry

from actors.fault_plan import FaultPlan
from actors.serve import INTERNAL_FAULT
from actors.simulation.book import Violation
from actors.simulation.faults import draw_plan
from actors.simulation.policies import make_policy
from actors.simulation.scheduler import Scheduler
from actors.simulation.seeds import stream
from actors.simulation.trace import Trace
from actors.simulation.world import World
from protocol.values import frozen

if TYPE_CHECKING:
    from actors.planned_faults import Fired
    from actors.simulation.backend import Backend
    from actors.simulation.policies import PolicyName
    from actors.simulation.scenario import Scenario


@frozen
class Schedule:
    """What came of one seed."""

    scenario: str
    seed: int
    plan: FaultPlan
    trace: Trace = field(repr=False)
    points: int
    """Scheduling points."""
    seconds: float
    """Of the world's clock."""
    fired: tuple[Fired, ...]
    violations: tuple[Violation, ...]


def play(
    scenario: Scenario,
    seed: int,
    backend: Backend,
    policy: PolicyName | None = None,
    plan: FaultPlan | None = None,
) -> Schedule:
    """Play one seed of a scenario; without a ``plan`` the seed draws one."""
    if plan is None:
        plan = drawn_plan(scenario, seed)
    trace, key = Trace(), f"{scenario.name}/{seed}"
    scheduler = Scheduler(backend, make_policy(policy, stream(key, "policy")), trace)
    backend.begin(scheduler.body)
    worlds: list[World] = []

    def main() -> None:
        world = World(scheduler, key, plan)
        worlds.append(world)
        scenario.play(world)

    scheduler.run(main)
    _forget_actors()
    violations = _judged(scenario, scheduler, worlds[0])
    fired = tuple(worlds[0].planned.fired)
    return Schedule(
        scenario.name, seed, plan, trace, scheduler.points, scheduler.now, fired, violations
    )


def drawn_plan(scenario: Scenario, seed: int) -> FaultPlan:
    """Draw the plan of a seed."""
    numbers = stream(f"{scenario.name}/{seed}", "faults")
    if not (scenario.most_faults or scenario.draw) or numbers.random() < scenario.calm:
        return FaultPlan(faults=(), name="none", seed=seed)
    if scenario.draw is not None:
        return scenario.draw(seed, numbers)
    return draw_plan(seed, numbers, scenario.points, scenario.most_faults)


def _judged(scenario: Scenario, scheduler: Scheduler, world: World) -> tuple[Violation, ...]:
    found: list[Violation] = []
    if scheduler.hang:
        found.append(Violation("ends", scheduler.hang))
    else:
        for served in world.servers:
            served.judge(_right_codes(scenario, world))
        for check in world.checks:
            check()
    found += [
        Violation("escaped", f"{task.name} let {error!r:.200} escape")
        for task, error in scheduler.raised
    ]
    suspended = _suspended(world.planned.plan) if world.planned.fired else ()
    broken = [each for served in world.servers for each in served.book.violations]
    return (*found, *(each for each in broken if each.rule not in suspended))


def _suspended(plan: FaultPlan) -> tuple[str, ...]:
    """Return the rules that are not judged; who changes lines changes the text that they carry.

    So does who loses or doubles messages.
    """
    lines = any(
        fault.point.startswith("line.") or fault.fault in {"drop", "duplicate"}
        for fault in plan.faults
    )
    return (*plan.suspends, "text") if lines else plan.suspends


def _right_codes(scenario: Scenario, world: World) -> tuple[int, ...]:
    """A crashed supervisor ends the server, in order and with a code of its own."""
    fell = any(fired.fault in {"crash", "error"} for fired in world.planned.fired)
    return (*scenario.codes, INTERNAL_FAULT) if fell else scenario.codes


def _forget_actors() -> None:
    """Clear pykka's list of actors, which is the process's, of those that a kill left in it."""
    for ref in ActorRegistry.get_all():
        ActorRegistry.unregister(ref)
