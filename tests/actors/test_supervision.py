"""Who restarts with whom, and what a supervisor decides, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from actors.strategies import RestartBudget, affected
from actors.supervision import (
    Finish,
    GaveUp,
    Restart,
    Retire,
    StartChild,
    StopChild,
    SupervisorState,
)

if TYPE_CHECKING:
    from actors.strategies import Strategy
    from actors.supervision import Decision

NAMES = ("a", "b", "c", "d")
BOOM = ValueError("boom")


def _state(
    strategy: Strategy,
    names: tuple[str, ...] = NAMES,
    limit: int = 3,
    restart: Restart = "permanent",
) -> SupervisorState:
    state = SupervisorState(strategy, RestartBudget(limit, 60.0))
    for name in names:
        state.add(name, restart, 5.0)
    return state


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [("one_for_one", ("b",)), ("one_for_all", NAMES), ("rest_for_one", ("b", "c", "d"))],
)
def test_each_strategy_restarts_its_own_circle(
    strategy: Strategy, expected: tuple[str, ...]
) -> None:
    assert affected(strategy, NAMES, "b") == expected


def test_a_budget_counts_within_its_window_only() -> None:
    budget = RestartBudget(2, 10.0)

    spent = [budget.spend(now) for now in (0, 1, 2, 10.5, 10.9, 11.5, 12)]

    assert spent == [True, True, False, True, False, True, False]


def test_a_crash_under_one_for_one_restarts_the_child_at_once() -> None:
    assert _state("one_for_one").down("b", 1, BOOM, 0) == [StartChild("b", 2)]


def test_a_crash_under_rest_for_one_stops_in_reverse_and_starts_in_order() -> None:
    state = _state("rest_for_one")

    assert state.down("b", 1, BOOM, 0) == [StopChild("d", 1, 5.0)]
    assert state.down("d", 1, None, 0) == [StopChild("c", 1, 5.0)]
    assert state.down("c", 1, None, 0) == [
        StartChild("b", 2),
        StartChild("c", 2),
        StartChild("d", 2),
    ]


def test_a_second_crash_widens_the_wave_that_is_under_way() -> None:
    state = _state("rest_for_one")
    state.down("c", 1, BOOM, 0)

    assert state.down("a", 1, BOOM, 0) == [StopChild("d", 1, 5.0)]
    assert state.down("d", 1, None, 0) == [StopChild("b", 1, 5.0)]
    assert state.down("b", 1, None, 0) == [StartChild(name, 2) for name in NAMES]


def test_a_child_that_crashes_while_it_is_stopped_costs_no_restart() -> None:
    state = _state("rest_for_one", limit=1)
    state.down("c", 1, BOOM, 0)

    assert state.down("d", 1, BOOM, 0) == [StartChild("c", 2), StartChild("d", 2)]


def test_a_child_that_does_not_stop_in_time_counts_as_down() -> None:
    state = _state("rest_for_one")
    state.down("c", 1, BOOM, 0)

    assert state.overdue("d", 1) == [StartChild("c", 2), StartChild("d", 2)]
    assert state.down("d", 1, None, 0) == []
    assert state.overdue("d", 1) == []


def test_one_crash_too_many_ends_everything_and_keeps_the_addresses_for_the_next_try() -> None:
    state = _state("one_for_one", ("a", "b"), limit=1)
    assert state.down("a", 1, BOOM, 0) == [StartChild("a", 2)]

    assert state.down("a", 2, BOOM, 1) == [StopChild("b", 1, 5.0)]
    (finish,) = state.down("b", 1, None, 2)

    assert isinstance(finish, Finish)
    assert isinstance(finish.reason, GaveUp)
    assert str(finish.reason) == "a failed too often, last with: ValueError('boom')"
    assert finish.reason.__cause__ is BOOM


def test_an_orderly_end_stops_in_reverse_and_retires_everyone() -> None:
    state = _state("one_for_one", ("a", "b"))

    assert state.end() == [StopChild("b", 1, 5.0)]
    assert state.down("b", 1, None, 0) == [StopChild("a", 1, 5.0)]
    assert state.down("a", 1, None, 0) == [Retire("a"), Retire("b"), Finish(None)]


def test_nobody_is_taken_on_while_everything_ends() -> None:
    state = _state("one_for_one")
    state.end()

    assert state.add("e", "permanent", 5.0) == [Retire("e")]


@pytest.mark.parametrize(
    ("restart", "reason", "expected"),
    [
        ("permanent", None, [StartChild("a", 2)]),
        ("permanent", BOOM, [StartChild("a", 2)]),
        ("transient", None, [Retire("a")]),
        ("transient", BOOM, [StartChild("a", 2)]),
        ("temporary", None, [Retire("a")]),
        ("temporary", BOOM, [Retire("a")]),
    ],
)
def test_what_an_unexpected_end_means_depends_on_the_child(
    restart: Restart, reason: BaseException | None, expected: list[Decision]
) -> None:
    assert _state("one_for_one", ("a",), restart=restart).down("a", 1, reason, 0) == expected


def test_a_temporary_child_falls_with_a_wave_and_does_not_rise_again() -> None:
    state = _state("one_for_all", ("a", "b"))
    state.add("t", "temporary", 5.0)

    assert state.down("a", 1, BOOM, 0) == [StopChild("t", 1, 5.0)]
    assert state.down("t", 1, None, 0) == [Retire("t"), StopChild("b", 1, 5.0)]
    assert state.down("b", 1, None, 0) == [StartChild("a", 2), StartChild("b", 2)]


def test_a_significant_child_takes_its_supervisor_along_when_it_is_done() -> None:
    state = _state("one_for_one", ("a",))
    state.add("s", "transient", 5.0, significant=True)

    assert state.down("s", 1, None, 0) == [StopChild("a", 1, 5.0)]


@given(generation=st.integers(-3, 30).filter(lambda number: number != 2))
def test_other_incarnations_are_ignored(generation: int) -> None:
    state = _state("rest_for_one")
    state.down("d", 1, BOOM, 0)

    assert state.down("d", generation, BOOM, 0) == []
    assert state.overdue("d", generation) == []


class Supervision(RuleBasedStateMachine):
    """Any order of ends, late ends, lost patience and orders to end.

    The model is the set of incarnations that really live; those that were given up on may still
    report later, and must not be heard.
    """

    LIMIT, WINDOW_S = 3, 10.0

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.alive: dict[str, int] = {}
        self.ghosts: list[tuple[str, int]] = []
        self.asked: tuple[str, int] | None = None
        self.started_together: list[str] = []
        self.restarts: list[float] = []
        self.finished = 0
        self.ending = False

    @rule(strategy=st.sampled_from(["one_for_one", "one_for_all", "rest_for_one"]))
    @precondition(lambda self: not hasattr(self, "state"))
    def begin(self, strategy: Strategy) -> None:
        self.state = SupervisorState(strategy, RestartBudget(self.LIMIT, self.WINDOW_S))
        for name in NAMES:
            self._perform(self.state.add(name, "permanent", 5.0))

    @rule(name=st.sampled_from(NAMES), passed_s=st.floats(0, 4), crash=st.booleans())
    @precondition(lambda self: hasattr(self, "state"))
    def a_child_ends(self, name: str, passed_s: float, crash: bool) -> None:  # noqa: FBT001
        self.now += passed_s
        if name not in self.alive:
            return
        generation = self.alive.pop(name)
        if self.asked == (name, generation):
            self.asked = None
        expected = self.ending or name in self.state._stopping
        before = self._highest()
        decisions = self.state.down(name, generation, BOOM if crash else None, self.now)
        if not expected and not self.state._ending:
            self.restarts.append(self.now)
        self._perform(decisions, before)

    @rule()
    @precondition(lambda self: hasattr(self, "state") and self.asked is not None)
    def patience_ends(self) -> None:
        assert self.asked is not None
        name, generation = self.asked
        self.asked = None
        del self.alive[name]
        self.ghosts.append((name, generation))
        self._perform(self.state.overdue(name, generation))

    @rule()
    @precondition(lambda self: hasattr(self, "state") and bool(self.ghosts))
    def a_ghost_reports(self) -> None:
        name, generation = self.ghosts.pop()
        assert self.state.down(name, generation, BOOM, self.now) == []
        assert self.state.overdue(name, generation) == []

    @rule()
    @precondition(lambda self: hasattr(self, "state") and not self.finished)
    def end(self) -> None:
        self._perform(self.state.end())

    @invariant()
    def restarts_stay_within_the_budget(self) -> None:
        for first in self.restarts:
            near = [at for at in self.restarts if first <= at <= first + self.WINDOW_S]
            assert len(near) <= self.LIMIT

    @invariant()
    def somebody_is_asked_or_all_is_said(self) -> None:
        """A wave never stalls: while it lasts, exactly one living child is being stopped."""
        if hasattr(self, "state") and self.state._ending:
            assert self.finished == (0 if self.alive else 1)
            assert bool(self.alive) == (self.asked is not None)

    def _highest(self) -> dict[str, int]:
        return {name: child.generation for name, child in self.state.children.items()}

    def _perform(self, decisions: list[Decision], before: dict[str, int] | None = None) -> None:
        started: list[str] = []
        for decision in decisions:
            match decision:
                case StartChild(name, generation):
                    assert name not in self.alive
                    assert before is None or generation == before[name] + 1
                    self.alive[name] = generation
                    started.append(name)
                case StopChild(name, generation, _):
                    assert self.alive[name] == generation
                    assert self.asked in {None, (name, generation)}
                    self.asked = (name, generation)
                case Finish(_):
                    self.finished += 1
                    assert not self.alive
                case Retire(_):
                    assert not self.alive
        assert started == sorted(started)
        self.ending = self.state._ending


TestSupervision = Supervision.TestCase
TestSupervision.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
