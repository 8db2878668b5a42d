"""The supervisor with real threads: order, escalation, bounds, and children that won't stop."""

from __future__ import annotations

import queue
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from pykka import ActorDeadError

from actors.messages import Stop
from actors.supervision import GaveUp
from actors.supervisor import AddChild, ChildSpec, Supervisor
from tests.actors.stage import WAIT_S, Do, Latch, Player, Stage, boom
from tests.fakes import CrashAt

if TYPE_CHECKING:
    from collections.abc import Callable

    from pykka import ActorRef

    from actors.strategies import Strategy


class Family:
    """A supervisor of players; what happens to each is in ``log``, in order."""

    def __init__(self, stage: Stage, strategy: Strategy = "one_for_one", limit: int = 3) -> None:
        self.stage = stage
        self.log: queue.Queue[str] = queue.Queue()
        self.address = stage.address("top")
        self.children: dict[str, Any] = {}
        self._strategy: Strategy = strategy
        self._limit = limit

    def child(
        self,
        name: str,
        at_start: Callable[[Player], Any] | None = None,
        shutdown_s: float = 5.0,
    ) -> ChildSpec:
        address = self.children[name] = self.stage.address(name)

        def begin(player: Player) -> None:
            self.log.put(f"+{name}")
            if at_start is not None:
                at_start(player)

        def end(_: Player) -> None:
            self.log.put(f"-{name}")

        return ChildSpec(
            address,
            lambda: Player(self.stage.system, address, None, begin, end),
            shutdown_s=shutdown_s,
        )

    def start(self, *specs: ChildSpec) -> ActorRef[Any]:
        ref = self.stage.start(lambda: self.make(*specs))
        self.address.bind(ref)
        return ref

    def make(self, *specs: ChildSpec) -> Supervisor:
        return Supervisor(
            self.stage.system, self.address, specs, self._strategy, (self._limit, 60.0)
        )

    def events(self, count: int) -> list[str]:
        return [self.log.get(timeout=WAIT_S) for _ in range(count)]

    def crash(self, name: str) -> None:
        self.children[name].tell(Do(boom))


def _stop(ref: ActorRef[Any], stage: Stage) -> BaseException | None:
    ref.tell(Stop())
    return stage.end()


def test_children_start_in_order_and_stop_in_reverse(stage: Stage) -> None:
    family = Family(stage)
    ref = family.start(*(family.child(name) for name in "abc"))
    assert sorted(family.events(3)) == ["+a", "+b", "+c"]

    assert _stop(ref, stage) is None

    assert family.events(3) == ["-c", "-b", "-a"]


def test_one_for_one_restarts_the_one_and_replays_what_was_told(stage: Stage) -> None:
    family = Family(stage)
    ref = family.start(family.child("a"), family.child("b"))
    family.events(2)

    family.crash("a")
    told = Latch()
    family.children["a"].tell(Do(lambda _: told.reached.set()))

    assert family.events(1) == ["+a"]
    told.wait_reached()
    stage.telemetry.wait_for("restarted", "a")
    assert stage.telemetry.count("restarted", "b") == 0
    _stop(ref, stage)


def test_rest_for_one_stops_the_younger_ones_first_and_starts_them_after(stage: Stage) -> None:
    family = Family(stage, "rest_for_one")
    ref = family.start(*(family.child(name) for name in "abcd"))
    family.events(4)

    family.crash("b")

    assert family.events(2) == ["-d", "-c"]
    assert sorted(family.events(3)) == ["+b", "+c", "+d"]
    _stop(ref, stage)


def test_a_child_that_fails_each_start_ends_in_bounds_with_a_clear_reason(stage: Stage) -> None:
    family = Family(stage)
    family.start(family.child("a", at_start=boom))

    reason = stage.end()

    assert isinstance(reason, GaveUp)
    assert str(reason) == "a failed too often, last with: ValueError('boom')"
    assert family.events(4) == ["+a"] * 4
    assert family.log.empty()


def test_a_child_that_can_not_even_be_made_is_a_child_that_crashed(stage: Stage) -> None:
    family = Family(stage)
    family.start(ChildSpec(stage.address("a"), boom))  # type: ignore[arg-type]  # raises instead

    assert "a failed too often, last with: ValueError('boom')" in str(stage.end())


def test_a_failure_travels_upward_level_by_level(stage: Stage) -> None:
    family = Family(stage)
    middle = stage.address("middle")
    spec = family.child("a", at_start=boom)

    def make() -> Supervisor:
        return Supervisor(stage.system, middle, (spec,), "one_for_one", (1, 60.0))

    family.start(ChildSpec(middle, make))

    reason = stage.end()

    assert str(reason).startswith("middle failed too often, last with: GaveUp(")
    assert "a failed too often" in str(reason)
    assert len(family.events(8)) == 8  # two starts in each of four incarnations of the middle
    assert family.log.empty()
    assert stage.telemetry.count("gave_up") == 5


def test_messages_wait_while_a_supervisor_that_gave_up_is_started_again(stage: Stage) -> None:
    family = Family(stage)
    middle, fails = stage.address("middle"), iter([True, True])

    def at_start(_: Player) -> None:
        if next(fails, False):
            boom()

    spec = family.child("a", at_start=at_start)
    told = Latch()
    family.children["a"].tell(Do(lambda _: told.reached.set()))

    def make() -> Supervisor:
        return Supervisor(stage.system, middle, (spec,), "one_for_one", (0, 60.0))

    ref = family.start(ChildSpec(middle, make))

    told.wait_reached()
    assert stage.telemetry.count("dead_letter") == 0
    _stop(ref, stage)


def test_a_child_that_does_not_stop_in_time_is_abandoned(stage: Stage) -> None:
    family, latch = Family(stage, "rest_for_one"), Latch()
    ref = family.start(family.child("a"), family.child("b", shutdown_s=3.0))
    family.events(2)
    family.children["b"].tell(Do(latch))
    latch.wait_reached()

    family.crash("a")
    stage.telemetry.wait_for("crashed", "a")
    _advance_until(stage, 3.1, lambda: not family.log.empty())

    assert sorted(family.events(2)) == ["+a", "+b"]
    stage.telemetry.wait_for("restarted", "b")
    latch.release()
    stage.telemetry.wait_for("stopped", "b")
    _stop(ref, stage)


def _advance_until(stage: Stage, seconds: float, done: Callable[[], bool]) -> None:
    """Let time pass again and again: nobody tells when the timer is armed."""
    for _ in range(100_000):
        if done():
            return
        stage.platform.advance(seconds)
    message = "time alone does not help"
    raise TimeoutError(message)


def test_children_of_a_crashed_supervisor_are_gone_before_anyone_hears_of_it() -> None:
    stage = Stage(CrashAt("actor.receive", actor="top"))
    family = Family(stage)
    family.start(*(family.child(name) for name in "ab"))
    family.events(2)

    family.crash("a")
    assert stage.end() is not None

    assert family.events(1) == ["-b"]
    assert stage.telemetry.count("stopped", "b") == 1
    stage.close()


def test_a_child_can_be_added_later(stage: Stage) -> None:
    family = Family(stage)
    ref = family.start()
    late = family.child("late")

    family.address.tell(AddChild(late))

    assert family.events(1) == ["+late"]
    family.crash("late")
    assert family.events(1) == ["+late"]
    assert _stop(ref, stage) is None
    assert family.events(1) == ["-late"]


@pytest.mark.parametrize("seed", range(20))
def test_crashes_while_it_starts_and_stops_leave_nobody_behind(seed: int) -> None:
    stage = Stage(CrashAt("actor.start", (seed % 5 + 1,)))
    family = Family(stage, "rest_for_one")
    ref = family.start(*(family.child(name) for name in "abc"))
    if seed % 2:
        family.crash("b")

    with suppress(ActorDeadError):  # the fault may have hit the supervisor itself
        ref.tell(Stop())

    stage.end()
    stage.close()
