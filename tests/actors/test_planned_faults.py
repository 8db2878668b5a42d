"""A fault plan at work: what fires when, what a caller gets, and what the client reads."""

from __future__ import annotations

import errno
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fault_plan import FaultPlan, PlanInvalid, PlannedFault, checked
from actors.faults import POINTS, NoFaults, Point
from actors.gate import Gate
from actors.planned_faults import Fired, InjectedCrash, InjectedError, PlannedFaults, pinned
from actors.real_platform import RealPlatform
from protocol.jsonrpc import encode_notification, encode_request, encode_result
from tests.fakes import FakePlatform, Running

if TYPE_CHECKING:
    from collections.abc import Sequence

POINT = "gate.put"


def planned(*faults: PlannedFault, seed: int = 0) -> PlannedFaults:
    return PlannedFaults(FaultPlan(faults=faults, seed=seed), RealPlatform())


def verdicts(faults: PlannedFaults, hits: int, who: str = "") -> list[str]:
    return [faults.at("mailbox.put", who) for _ in range(hits)]


def test_no_faults_pass_everything_and_change_no_line() -> None:
    assert NoFaults().at("x") == "pass"
    assert list(NoFaults().lines([b"a\n"])) == [[b"a\n"]]


def test_a_fault_without_hit_or_probability_fires_each_time() -> None:
    faults = planned(PlannedFault(point="mailbox.put", fault="drop"))

    assert verdicts(faults, 3) == ["drop", "drop", "drop"]


def test_a_hit_fires_once_and_times_makes_it_more() -> None:
    once = planned(PlannedFault(point="mailbox.put", fault="drop", hit=2))
    twice = planned(PlannedFault(point="mailbox.put", fault="drop", hit=2, times=2))

    assert verdicts(once, 4) == ["pass", "drop", "pass", "pass"]
    assert verdicts(twice, 4) == ["pass", "drop", "drop", "pass"]


def test_only_hits_of_whoever_matches_are_counted() -> None:
    faults = planned(PlannedFault(point="mailbox.put", fault="duplicate", who="session *", hit=2))

    assert verdicts(faults, 2, "router") == ["pass", "pass"]
    assert verdicts(faults, 2, "session 1") == ["pass", "duplicate"]
    assert faults.fired == [Fired("mailbox.put", "session 1", 2, "duplicate")]


@given(seed=st.integers(0, 1000))
def test_equal_seeds_decide_alike(seed: int) -> None:
    chance = PlannedFault(point="mailbox.put", fault="drop", probability=0.5)

    assert verdicts(planned(chance, seed=seed), 20) == verdicts(planned(chance, seed=seed), 20)


def test_other_seeds_decide_otherwise() -> None:
    chance = PlannedFault(point="mailbox.put", fault="drop", probability=0.5)

    assert len({tuple(verdicts(planned(chance, seed=seed), 20)) for seed in range(5)}) > 1


def test_what_fired_by_chance_can_be_pinned() -> None:
    chance = PlannedFault(point="mailbox.put", fault="drop", probability=0.3, who="r*")
    drawn = planned(PlannedFault(point=POINT, fault="crash"), chance, seed=4)
    once = verdicts(drawn, 20, "router")

    again = PlannedFaults(pinned(drawn.plan, drawn.fired), RealPlatform())

    assert verdicts(again, 20, "router") == once
    assert "drop" in once
    assert {fault.probability for fault in again.plan.faults} == {None}


def test_a_crash_and_an_error_raise_what_they_say() -> None:
    faults = planned(
        PlannedFault(point=POINT, fault="crash", hit=1),
        PlannedFault(point="ledger.git", fault="error", errno="ENOSPC"),
    )

    with pytest.raises(InjectedCrash, match=r"injected at gate\.put"):
        faults.at(POINT)
    with pytest.raises(InjectedError) as raised:
        faults.at("ledger.git", "update-ref")
    assert raised.value.errno == errno.ENOSPC


def test_a_delay_waits_on_the_platform_it_was_given() -> None:
    platform, told = FakePlatform(), Event()
    plan = FaultPlan(faults=(PlannedFault(point=POINT, fault="delay", seconds=60),))
    faults = PlannedFaults(plan, platform, told=lambda _: told.set())
    waiting = Running(lambda: faults.at(POINT))
    assert told.wait(20)

    assert waiting.is_running()
    while waiting.is_running():  # it may read the clock only after it was moved
        platform.advance(60)

    assert waiting.result() == "pass"


def test_a_stall_ends_when_the_faults_are_healed_and_nothing_fires_any_more() -> None:
    told = Event()
    plan = FaultPlan(faults=(PlannedFault(point=POINT, fault="stall"),))
    faults = PlannedFaults(plan, RealPlatform(), told=lambda _: told.set())
    waiting = Running(lambda: faults.at(POINT))
    assert told.wait(20)

    assert waiting.is_running()
    faults.heal()

    assert waiting.result() == "pass"
    assert faults.at(POINT) == "pass"
    assert len(faults.fired) == 1


def test_a_released_stall_no_longer_waits_but_a_crash_still_crashes() -> None:
    faults = planned(
        PlannedFault(point=POINT, fault="stall"), PlannedFault(point="gate.take", fault="crash")
    )
    faults.release()

    assert faults.at(POINT) == "pass"
    with pytest.raises(InjectedCrash):
        faults.at("gate.take")


def test_only_a_real_server_exits() -> None:
    plan = FaultPlan(faults=(PlannedFault(point=POINT, fault="exit", code=3),))
    left: list[tuple[int, bool]] = []

    with pytest.raises(PlanInvalid, match="only a real server can exit"):
        PlannedFaults(plan, RealPlatform())
    PlannedFaults(plan, RealPlatform(), leave=lambda *how: left.append(how)).at(POINT)
    assert left == [(3, False)]


# --- lines

UPDATES = [
    encode_notification("session/update", {"sessionId": "s", "update": {"sessionUpdate": name}})
    for name in ("plan", "tool_call", "agent_message_chunk")
]
ANSWER = encode_result(1, {"stopReason": "end_turn"})
QUESTION = encode_request(7, "session/request_permission", {})
LINES = [*UPDATES, QUESTION, ANSWER]


def through(*faults: PlannedFault, frames: Sequence[bytes] = LINES) -> list[bytes]:
    return [line for group in planned(*faults).lines(frames) for line in group]


def test_a_plan_without_line_faults_hands_lines_on_as_they_are() -> None:
    assert list(planned(PlannedFault(point=POINT, fault="crash")).lines(LINES)) == [LINES]


def test_lines_are_told_apart_by_sort_and_kind() -> None:
    assert through(PlannedFault(point="line.update", fault="drop")) == [QUESTION, ANSWER]
    assert through(PlannedFault(point="line.answer", fault="drop")) == LINES[:-1]
    asked = PlannedFault(point="line.question", fault="drop", who="session/request_permission")
    assert through(asked) == [*UPDATES, ANSWER]
    assert through(PlannedFault(point="line.update", fault="drop", who="pl*")) == LINES[1:]
    assert through(PlannedFault(point="line.answer", fault="drop", who="initialize")) == LINES


def test_a_line_may_be_doubled_cut_and_joined_by_garbage() -> None:
    first = UPDATES[0]

    def made(fault: PlannedFault) -> list[bytes]:
        return through(replace(fault, point="line.update"), frames=[first])

    assert made(PlannedFault(point="", fault="duplicate")) == [first, first]
    (cut,) = made(PlannedFault(point="", fault="cut"))
    assert cut.endswith(b"\n")
    assert first.startswith(cut[:-1])
    oops = PlannedFault(point="", fault="garbage", text="oops")
    assert made(oops) == [b"oops\n", first]
    assert made(replace(oops, place="after")) == [first, b"oops\n"]
    assert made(replace(oops, place="instead")) == [b"oops\n"]


def test_a_late_line_lets_others_pass() -> None:
    late = PlannedFault(point="line.update", fault="late", who="plan", behind=2)

    assert through(late) == [UPDATES[1], UPDATES[2], UPDATES[0], QUESTION, ANSWER]


def test_a_late_line_may_come_behind_the_answer() -> None:
    late = PlannedFault(point="line.update", fault="late", who="tool_call", behind="answer")

    assert through(late) == [UPDATES[0], UPDATES[2], QUESTION, ANSWER, UPDATES[1]]


def test_what_was_said_before_a_stalled_line_is_out_already() -> None:
    told = Event()
    fault = PlannedFault(point="line.update", fault="stall", who="tool_call")
    faults = PlannedFaults(FaultPlan(faults=(fault,)), RealPlatform(), lambda _: told.set())
    gate = Gate(RealPlatform(), faults)
    producer = Running(lambda: gate.put(LINES))
    assert told.wait(20)

    assert bytes(gate.take()) == UPDATES[0]
    gate.written(len(UPDATES[0]))
    faults.release()
    producer.result()
    assert bytes(gate.take()) == b"".join(LINES[1:])


# --- plans


CAN: dict[str, Point] = {"a.b": Point("a.b", "", ("crash", "delay", "late", "garbage", "error"))}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (PlannedFault(point="a.c", fault="crash"), "unknown point 'a.c' (did you mean a.b?)"),
        (PlannedFault(point="a.b", fault="drop"), "a.b can't drop; it can crash, delay, late"),
        (PlannedFault(point="a.b", fault="crsh"), "unknown fault 'crsh' (did you mean crash?)"),  # type: ignore[arg-type]
        (PlannedFault(point="a.b", fault="crash", hit=0), "hits are counted from 1, not 0"),
        (PlannedFault(point="a.b", fault="crash", hit=1, probability=1), "not both"),
        (PlannedFault(point="a.b", fault="crash", probability=2), "over 0 and up to 1, not 2"),
        (PlannedFault(point="a.b", fault="crash", times=0), "times must be at least 1"),
        (PlannedFault(point="a.b", fault="delay"), "a delay needs seconds"),
        (PlannedFault(point="a.b", fault="delay", seconds=0), "seconds must be over 0"),
        (PlannedFault(point="a.b", fault="error", errno="EXX"), "unknown errno 'EXX'"),
        (PlannedFault(point="a.b", fault="late", behind=0), 'a number of lines or "answer"'),
        (PlannedFault(point="a.b", fault="garbage", place="up"), "unknown place 'up'"),  # type: ignore[arg-type]
    ],
)
def test_an_entry_that_can_not_work_is_named(fault: PlannedFault, reason: str) -> None:
    plan = FaultPlan(faults=(fault,), name="mine")

    with pytest.raises(PlanInvalid) as raised:
        checked(plan, CAN)

    assert str(raised.value).startswith("plan mine: fault 1: ")
    assert reason in str(raised.value)


def test_a_plan_suspends_known_invariants_only() -> None:
    with pytest.raises(PlanInvalid, match=r"suspends: 'answer' \(did you mean answers"):
        checked(FaultPlan(faults=(), suspends=("answer",)), POINTS)


def test_a_plan_that_can_work_is_returned() -> None:
    plan = FaultPlan(faults=(PlannedFault(point="a.b", fault="delay", seconds=1),))

    assert checked(plan, CAN) is plan
