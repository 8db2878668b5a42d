"""Users' own runtimes and activities in simulated worlds, by the pytest fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from actors.fault_plan import FaultPlan, PlannedFault
from actors.simulation.client import Reading
from actors.simulation.served import Pipes
from actors.work import CallableWork
from runtimes.chantry.one_step import OneStepRuntime
from runtimes.chantry.seeded import play_seeds

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.simulation.schedule import Schedule
    from actors.simulation.world import World
    from actors.work import WorkContext

    PlayWorld = Callable[..., list[Schedule]]

WORKS_S = 5.0


def patient(context: WorkContext) -> str:
    """Work for five seconds of the world's clock, and stop on a cancel."""
    context.emit("stdout", "begun\n")
    return "stopped" if context.cancel.wait(WORKS_S) else "done"


def one_prompt(work: Callable[[WorkContext], object], *, cancel: bool) -> Callable[[World], None]:
    def scene(world: World) -> None:
        runtime = OneStepRuntime(lambda _: CallableWork("mine", work))
        client = world.serve(lambda _: runtime, Pipes(), Reading())
        client.initialize()
        session = client.new_session()
        prompt = client.prompt(session, "go")
        if cancel:
            client.cancel(session)
        client.answer(prompt)
        client.end_input()
        client.until_closed()

    return scene


def test_an_activity_is_played_with_and_without_faults(seeded_world: PlayWorld) -> None:
    schedules = seeded_world(one_prompt(patient, cancel=False), seeds=60)

    assert len(schedules) == 60
    assert any(schedule.fired for schedule in schedules)
    assert min(schedule.seconds for schedule in schedules) >= WORKS_S


def test_a_cancelled_activity_is_played(seeded_world: PlayWorld) -> None:
    assert len(seeded_world(one_prompt(patient, cancel=True), seeds=60)) == 60


def test_a_plan_of_the_users_own_fires(seeded_world: PlayWorld) -> None:
    plan = FaultPlan(faults=(PlannedFault(point="step.call", fault="delay", seconds=60),))

    (schedule,) = seeded_world(one_prompt(patient, cancel=False), seeds=1, plan=plan)

    assert [fired.point for fired in schedule.fired] == ["step.call"]
    assert schedule.seconds >= 60 + WORKS_S


def test_a_broken_promise_names_its_seed_and_the_way_to_see_it_again() -> None:
    plan = FaultPlan(faults=())

    with pytest.raises(AssertionError) as raised:
        play_seeds(_wrong, range(7, 8), plan, "again {seed}")

    assert str(raised.value).startswith("seed 7 of _wrong broke a rule\n")
    assert "two is not one" in str(raised.value)
    assert str(raised.value).endswith("  replay: again 7")


def _wrong(world: World) -> None:
    one_prompt(patient, cancel=False)(world)
    message = "two is not one"
    raise AssertionError(message)


def test_equal_seeds_give_equal_traces() -> None:
    def hashes() -> list[str]:
        scene = one_prompt(patient, cancel=True)
        return [schedule.trace.hash for schedule in play_seeds(scene, range(10))]

    assert hashes() == hashes()
