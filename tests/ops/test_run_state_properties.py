"""Whatever order things happen in, a run ends once, cleans up when it must, and tells of all."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from ops.events import CompensationStarted, RunSettled, StepSettled, StepStarted
from ops.run_values import (
    CancelAsked,
    Emit,
    GateAnswered,
    HostLost,
    MarkCompensation,
    PointAnswered,
    RunBegun,
    Settle,
    StartStep,
    StepFinished,
    Tick,
)
from ops.step_result import cancelled, exited, failed, timed_out
from tests.ops.runs import Host, clean_up, gate, phase, plan, point, step

if TYPE_CHECKING:
    from ops.plan import Plan, PlannedPhase, PlannedStep

RESULTS = (exited(0), exited(0), exited(3), failed("no such program"), timed_out(5.0), cancelled())
GATES = ("approved", "approved", "pending", "rejected", "unreadable")
POINTS = ("answered", "answered", "open", "failed")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    counter = iter(range(1000))

    def a_step(*, asks: bool) -> PlannedStep:
        name = f"s{next(counter)}"
        kind = draw(st.sampled_from(("step", "step", "gate", "point"))) if asks else "step"
        if kind == "gate":
            return gate(name)
        if kind == "point":
            return point(name)
        args = {"x": {"from": "s0", "path": "stdout"}} if draw(st.integers(0, 5)) == 0 else {}
        return step(name, attempts=draw(st.integers(1, 2)), args=args)

    def a_phase(name: str, *, compensates: bool) -> PlannedPhase:
        count = draw(st.integers(1, 3))
        steps = [a_step(asks=not compensates) for _ in range(count)]
        parallel = draw(st.booleans())
        return phase(
            name,
            *steps,
            parallel=parallel,
            fail_fast=parallel and draw(st.booleans()),
            compensates=compensates,
        )

    forward = [a_phase(f"P{n}", compensates=False) for n in range(draw(st.integers(1, 3)))]
    back = [a_phase(f"F{n}", compensates=True) for n in range(draw(st.integers(0, 3)))]
    return plan(*forward, on_failure=back)


def play(host: Host, draw: st.DataObject) -> None:
    """Let anything happen in any order until the run settles."""
    host.tell(RunBegun())
    disturbances = draw.draw(st.integers(0, 4))
    while not host.run.settled:
        moves = ["finish"] * bool(host.running) + ["ask"] * bool(host.asked)
        moves += ["tick"] * bool(host.timers)
        assert moves, "nothing can happen and the run is not over"
        if disturbances:
            moves += ["cancel", "hard", "lost", "noise"]
        move = draw.draw(st.sampled_from(moves))
        disturbances -= move in {"cancel", "hard", "lost", "noise"}
        make_move(host, move, draw)
    for late in (CancelAsked(), RunBegun(), StepFinished("s0", exited(0)), Tick("compensation")):
        assert host.tell(late) == []


def make_move(host: Host, move: str, draw: st.DataObject) -> None:
    match move:
        case "finish":
            step_id = draw.draw(st.sampled_from(host.running))
            host.running.remove(step_id)
            host.tell(StepFinished(step_id, draw.draw(st.sampled_from(RESULTS))), after_s=1)
        case "ask":
            step_id, kind = host.asked.pop()
            if kind == "gate":
                host.tell(GateAnswered(step_id, draw.draw(st.sampled_from(GATES))))
            else:
                host.tell(PointAnswered(step_id, draw.draw(st.sampled_from(POINTS))))
        case "tick":
            key = draw.draw(st.sampled_from(sorted(host.timers)))
            del host.timers[key]
            host.tell(Tick(key))
        case "cancel":
            second = host.run.cancel_asked
            came = host.tell(CancelAsked())
            assert not (second and came)
        case "hard":
            host.tell(CancelAsked(hard=True))
        case "lost":
            host.timers.clear()
            host.asked.clear()
            alive = None
            if draw.draw(st.booleans()):
                host.running = [each for each in host.running if draw.draw(st.booleans())]
                alive = frozenset(host.running)
            host.tell(HostLost("crashed", alive))
        case _:
            assert host.tell(Tick("retry:nobody")) == []
            assert host.tell(StepFinished("nobody", exited(0))) == []
            assert host.tell(RunBegun()) == []


@given(made=plans(), draw=st.data())
@settings(max_examples=400, deadline=None)
def test_every_run_ends_once_and_tells_of_every_step(made: Plan, draw: st.DataObject) -> None:
    host = Host(made)
    play(host, draw)

    check_the_end(host)
    check_the_steps(host)
    check_the_clean_up(host)
    assert [event.seq for event in host.events] == list(range(1, len(host.events) + 1))


def check_the_end(host: Host) -> None:
    assert [type(effect) for effect in host.effects].count(Settle) == 1
    assert isinstance(host.effects[-1], Settle)
    last = host.effects[-2]
    assert isinstance(last, Emit)
    assert isinstance(last.event, RunSettled)
    assert not host.running
    json.dumps(host.record)


def check_the_steps(host: Host) -> None:
    settled = Counter(each.step_id for each in host.events if isinstance(each, StepSettled))
    assert set(settled.values()) == {1}
    assert {each.step_id for each in host.plan.steps} <= settled.keys()
    begun = Counter(each.step_id for each in host.events if isinstance(each, StepStarted))
    assert set(begun.values()) <= {1}
    retries = {each.step_id: each.retry.attempts for each in host.plan.steps}
    for step_id, starts in Counter(host.started).items():
        assert starts <= retries.get(step_id, 2)
    for each in host.record["phases"]:
        assert all(done["status"] != "running" for done in each["steps"])


def check_the_clean_up(host: Host) -> None:
    status, record = host.settles[0].status, host.record
    begun = [each for each in host.events if isinstance(each, CompensationStarted)]
    called_for = status in {"fail", "cancelled"} and bool(host.plan.on_failure)
    hard = any(each["hard"] for each in record["cancels"])
    assert len(begun) == called_for or (hard and called_for)
    assert len(begun) == [type(effect) for effect in host.effects].count(MarkCompensation)
    assert (record["compensation"] != "none") == bool(begun)
    if called_for and not begun:
        assert record["not_run"] == [each.name for each in reversed(host.plan.on_failure)]
    order = [
        each.step.phase
        for each in host.effects
        if isinstance(each, StartStep) and each.step.compensates
    ]
    reverse = [each.name for each in reversed(host.plan.on_failure)]
    assert order == sorted(order, key=reverse.index)
    first = next(
        (n for n, e in enumerate(host.effects) if isinstance(e, StartStep) and e.step.compensates),
        None,
    )
    if first is not None:
        assert MarkCompensation() in host.effects[:first]


def test_clean_up_helper_marks_its_steps() -> None:
    assert all(each.compensates for each in clean_up("undo", step("a")).steps)
