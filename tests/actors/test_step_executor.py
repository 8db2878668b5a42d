"""The executor: hosts a machine, owns its steps, and leaves nothing undone after a crash."""

from __future__ import annotations

import gc
import os
import queue
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest

from actors.messages import Stop
from actors.model_call import AbortModelCall, ModelEnded, ModelRequest, StartModelCall
from actors.outlet import Outlet
from actors.session_state import StartTurn
from actors.step_executor import GRACE_S, SPARED_S, Answered, StepExecutorActor, cancel_order
from actors.turn import (
    AbortCall,
    AbortStep,
    ArmTimer,
    AskClient,
    CancelAsked,
    ClientAnswered,
    DropTimer,
    EndTurn,
    MachineFailed,
    ModelSaid,
    Say,
    StartCall,
    StartStep,
    StepEnded,
    TimerFired,
    TurnResult,
    TurnStarted,
)
from actors.turn_slot import SessionDesk, TurnSlot
from actors.work import CallableWork, StepEnd
from protocol.errors import InternalError, InvalidParams
from tests.actors.stage import WAIT_S, Stage
from tests.fakes import CrashAt, FakeSteps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.turn import CancelReason, TurnEffect, TurnEvent


class Script:
    """A machine that answers each event with the next entry; an entry may be an exception."""

    def __init__(self, *entries: Sequence[TurnEffect] | BaseException) -> None:
        self.entries = deque(entries)
        self.heard: queue.Queue[TurnEvent] = queue.Queue()

    def handle(self, event: TurnEvent) -> Sequence[TurnEffect]:
        self.heard.put(event)
        entry = self.entries.popleft() if self.entries else []
        if isinstance(entry, BaseException):
            raise entry
        return entry

    def hear(self) -> TurnEvent:
        return self.heard.get(timeout=WAIT_S)


class Host:
    """Whom a turn works for."""

    def __init__(self, machine: Script | BaseException) -> None:
        self.machine = machine
        self.questions: list[tuple[str, str]] = []
        self.said: list[Any] = []
        self.results: queue.Queue[TurnResult] = queue.Queue()
        self.over: queue.Queue[BaseException | None] = queue.Queue()
        self.refuses_questions = False

    def begin(self) -> Script:
        if isinstance(self.machine, BaseException):
            raise self.machine
        return self.machine

    def put_question(self, slot: TurnSlot, key: str, method: str, params: dict[str, Any]) -> None:
        del slot, params
        if self.refuses_questions:
            message = "no client"
            raise RuntimeError(message)
        self.questions.append((key, method))

    def answer(self, result: TurnResult) -> None:
        self.results.put(result)


class Mail:
    """Stands for the address of the model call actor."""

    def __init__(self) -> None:
        self.told: queue.Queue[Any] = queue.Queue()

    def tell(self, message: Any) -> None:
        self.told.put(message)

    def next(self) -> Any:
        return self.told.get(timeout=WAIT_S)


class Desk:
    """An executor at work: crashed ones are started again, as their supervisor would."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.steps = FakeSteps()
        self.model = Mail()
        self.address = stage.address("executor")
        self.desk = SessionDesk("s1")
        self.restart()

    def restart(self) -> None:
        self.ref = self.stage.start(
            lambda: StepExecutorActor(
                self.stage.system,
                self.address,
                self.desk,
                self.steps,
                self.model,  # type: ignore[arg-type]  # only tell is used
            )
        )
        self.address.bind(self.ref)

    def turn(self, machine: Script | BaseException, turn_id: str = "t1") -> TurnSlot:
        """Start a turn; its host is in the slot."""
        slot = self.slot(machine, turn_id)
        self.address.tell(StartTurn(slot))
        return slot

    def slot(self, machine: Script | BaseException, turn_id: str = "t1") -> TurnSlot:
        host = Host(machine)
        outlet = Outlet(
            self.stage.platform, self.stage.system.faults, host.said.extend, host.over.put
        )
        slot = TurnSlot(turn_id, "s1", host, outlet)
        self.desk.slot = slot
        return slot

    def cancel(self, slot: TurnSlot, reason: CancelReason = "client") -> None:
        self.address.tell(cancel_order(slot, reason))

    def pass_time(self, seconds: float) -> None:
        self.stage.platform.advance(seconds)

    def survive(self, crashes: int) -> None:
        for _ in range(crashes):
            assert self.stage.end() is not None
            self.restart()


def _host(slot: TurnSlot) -> Host:
    assert isinstance(slot.host, Host)
    return slot.host


def _result(slot: TurnSlot) -> TurnResult:
    host = _host(slot)
    result = host.results.get(timeout=WAIT_S)
    assert host.over.get(timeout=WAIT_S) is None
    assert host.results.empty()
    assert not slot.steps
    return result


def _render(stream: str, text: str) -> list[Any]:
    del stream
    return [text]


def _start(step_id: str, name: str = "step", **limits: Any) -> StartStep:
    return StartStep(step_id, CallableWork(name, lambda _: None), _render, **limits)


DONE = EndTurn(TurnResult())
CANCELLED = EndTurn(TurnResult("cancelled"))


@pytest.fixture
def desk(stage: Stage) -> Desk:
    return Desk(stage)


# --- the plain way


def test_a_turn_runs_a_step_and_says_its_answer_last(desk: Desk) -> None:
    script = Script([Say(("hello",)), _start("s1")], [Say(("bye",)), DONE])
    slot = desk.turn(script)

    desk.steps.wait_started().end("returned", value=7)

    assert _result(slot) == TurnResult()
    assert script.hear() == TurnStarted()
    assert script.hear() == StepEnded(StepEnd("s1", "returned", value=7))
    assert _host(slot).said == ["hello", "bye"]
    assert slot.state == "ended"


def test_an_ended_turn_leaves_nothing_to_the_garbage_collector(desk: Desk) -> None:
    script = Script([Say(("hello",)), _start("s1")], [DONE])
    slot = desk.turn(script)
    desk.steps.wait_started().end()
    assert _result(slot) == TurnResult()
    left: list[weakref.ref[Any]] = [weakref.ref(script), weakref.ref(desk.steps.started[0])]

    gc.disable()
    try:
        desk.desk.slot = None
        desk.steps.started.clear()
        del script, slot
        for _ in range(1_000_000):  # the executor may still be on its way out of the last message
            if not any(each() for each in left):
                break
            os.sched_yield()
        assert [each() for each in left] == [None, None]
    finally:
        gc.enable()


def test_steps_run_side_by_side_and_their_ends_come_as_they_fall(desk: Desk) -> None:
    script = Script([_start("a"), _start("b"), _start("c")], [], [], [DONE])
    slot = desk.turn(script)
    desk.steps.wait_started(3)

    for index in (2, 0, 1):
        desk.steps.started[index].end()

    assert _result(slot) == TurnResult()
    script.hear()
    ends = [script.hear() for _ in range(3)]
    assert [end.end.step_id for end in ends if isinstance(end, StepEnded)] == ["c", "a", "b"]


def test_a_step_may_be_started_again_under_its_name(desk: Desk) -> None:
    slot = desk.turn(Script([_start("a")], [_start("a")], [DONE]))

    desk.steps.wait_started(1).end("failed")
    desk.steps.wait_started(2).end()

    assert _result(slot) == TurnResult()


def test_the_end_of_a_turn_waits_for_its_steps_and_aborts_them(desk: Desk) -> None:
    slot = desk.turn(Script([_start("a", "stubborn"), _start("b"), DONE]))
    stubborn = desk.steps.wait_started(1)
    polite = desk.steps.wait_started(2)
    while not polite.heard:
        desk.pass_time(0)
    assert stubborn.heard == ["abort cancelled"]
    assert polite.heard == ["abort cancelled"]
    assert _host(slot).results.empty()

    stubborn.end("cancelled")

    assert _result(slot) == TurnResult()


def test_nothing_is_done_after_the_end(desk: Desk) -> None:
    slot = desk.turn(Script([DONE, Say(("late",)), _start("late")]))

    assert _result(slot) == TurnResult()
    assert _host(slot).said == []
    assert desk.steps.started == []


# --- cancel and time


def test_a_cancel_reaches_the_machine_and_its_step(desk: Desk) -> None:
    script = Script([_start("s1")], [AbortStep("s1")], [CANCELLED])
    slot = desk.turn(script)
    step = desk.steps.wait_started()

    desk.cancel(slot)

    assert _result(slot).stop_reason == "cancelled"
    assert step.heard == ["abort cancelled"]
    assert [script.hear() for _ in range(2)] == [TurnStarted(), CancelAsked("client")]


def test_the_same_cancel_is_heard_once_and_a_stronger_one_again(desk: Desk) -> None:
    script = Script([_start("s1", "stubborn")], [], [], [], [CANCELLED])
    slot = desk.turn(script)
    step = desk.steps.wait_started()
    script.hear()

    heard: list[TurnEvent] = []
    for reason in CANCELS:
        desk.cancel(slot, reason)
        desk.cancel(slot, "client")
        heard.append(script.hear())

    assert heard == [CancelAsked(reason) for reason in CANCELS]
    assert _result(slot).stop_reason == "cancelled"
    assert step.heard == ["abort cancelled", "kill"]
    assert isinstance(script.hear(), StepEnded)


def test_a_hard_stop_spares_a_step_that_keeps_something_for_a_while(desk: Desk) -> None:
    """A run that a hard stop settled at once was never recorded: its record was killed with it."""
    slot = desk.turn(Script([_start("s1", "stubborn"), _start("s2", spared=True)], [], [], [DONE]))
    killed = desk.steps.wait_started()
    spared = desk.steps.wait_started(2)
    desk.cancel(slot, "hard_stop")
    _let_it_arm(desk, "kill:s2")  # the first one has its kill by then

    desk.pass_time(SPARED_S - 0.1)
    assert (spared.heard, killed.heard) == ([], ["abort cancelled", "kill"])
    desk.pass_time(0.2)

    assert _result(slot) == TurnResult()
    assert spared.heard == ["kill"]


CANCELS: tuple[CancelReason, ...] = ("client", "shutdown", "hard_stop")


def test_a_cancel_before_the_start_means_that_nothing_is_done(desk: Desk) -> None:
    script = Script([_start("s1")])
    slot = desk.slot(script)

    desk.cancel(slot)
    desk.address.tell(StartTurn(slot))

    assert _result(slot).stop_reason == "cancelled"
    assert script.heard.empty()
    assert desk.steps.started == []


def test_a_cancel_after_the_end_changes_nothing(desk: Desk) -> None:
    slot = desk.turn(Script([DONE]))
    result = _result(slot)

    desk.cancel(slot)

    assert result == TurnResult()
    assert slot.state == "ended"
    assert _result(desk.turn(Script([DONE]), "t2")) == TurnResult()


@pytest.mark.parametrize("grace_s", [None, 0.5, 30.0])
def test_a_stubborn_step_is_killed_when_its_grace_is_over(
    desk: Desk, grace_s: float | None
) -> None:
    limits = {} if grace_s is None else {"grace_s": grace_s}
    slot = desk.turn(Script([_start("s1", "stubborn", **limits)], [AbortStep("s1")], [CANCELLED]))
    step = desk.steps.wait_started()
    desk.cancel(slot)
    _let_it_arm(desk, "kill:s1")

    desk.pass_time((GRACE_S if grace_s is None else grace_s) - 0.1)
    assert step.heard == ["abort cancelled"]
    desk.pass_time(0.2)

    assert _result(slot).stop_reason == "cancelled"
    assert step.heard == ["abort cancelled", "kill"]


def test_a_step_past_its_time_is_aborted_and_then_killed(desk: Desk) -> None:
    script = Script([_start("s1", "stubborn", timeout_s=10.0, grace_s=1.0)], [DONE])
    slot = desk.turn(script)
    step = desk.steps.wait_started()

    desk.pass_time(9.9)
    assert step.heard == []
    desk.pass_time(0.2)
    _let_it_arm(desk, "kill:s1")
    assert step.heard == ["abort timed_out"]
    desk.pass_time(1.1)

    assert _result(slot) == TurnResult()
    assert step.heard == ["abort timed_out", "kill"]


def test_a_step_that_ends_in_time_leaves_no_timer_behind(desk: Desk) -> None:
    slot = desk.turn(Script([_start("s1", timeout_s=10.0)], [DONE]))
    desk.steps.wait_started().end()
    _result(slot)

    assert desk.stage.timers._live == {}


def test_the_machines_timers_fire_are_replaced_and_dropped(desk: Desk) -> None:
    script = Script(
        [ArmTimer("a", 5), ArmTimer("b", 6), ArmTimer("a", 50), ArmTimer("c", 7), DropTimer("c")],
        [DONE],
    )
    slot = desk.turn(script)
    script.hear()
    _let_it_arm(desk, "turn:b")

    desk.pass_time(10)

    assert script.hear() == TimerFired("b")
    assert _result(slot) == TurnResult()


def test_a_timer_of_one_turn_is_nothing_to_the_next(desk: Desk) -> None:
    first = desk.turn(Script([ArmTimer("clean up", 5), DONE]))
    _result(first)
    script = Script([ArmTimer("mine", 7)], [DONE])
    second = desk.turn(script, "t2")
    script.hear()
    _let_it_arm(desk, "turn:mine")

    desk.pass_time(10)

    assert script.hear() == TimerFired("mine")
    assert _result(second) == TurnResult()


def _let_it_arm(desk: Desk, key: str) -> None:
    """Wait until a timer is armed: the clock must not move before."""
    for _ in range(1_000_000):
        if any(armed == key for _, armed in tuple(desk.stage.timers._live.values())):
            return
        desk.pass_time(0)
    message = f"nobody armed {key}"
    raise TimeoutError(message)


# --- the client and the model


def test_a_question_is_put_and_its_answer_heard(desk: Desk) -> None:
    script = Script([AskClient("q", "session/request_permission", {})], [DONE])
    slot = desk.turn(script)
    script.hear()

    desk.address.tell(Answered("t0", "q", "of another turn", failed=False))
    desk.address.tell(Answered("t1", "q", "yes", failed=False))

    assert _result(slot) == TurnResult()
    assert script.hear() == ClientAnswered("q", "yes", failed=False)
    assert _host(slot).questions == [("q", "session/request_permission")]


def test_model_calls_of_two_turns_may_have_the_same_name(desk: Desk) -> None:
    request = ModelRequest(lambda _: (), lambda _: ())
    first = desk.turn(Script([StartCall("c1", request), AbortCall("c1"), DONE]))
    _result(first)
    script = Script([StartCall("c1", request)], [], [DONE])
    second = desk.turn(script, "t2")

    told = [desk.model.next() for _ in range(4)]
    starts = [message for message in told if isinstance(message, StartModelCall)]
    aborts = [message for message in told if isinstance(message, AbortModelCall)]
    assert [abort.call_id for abort in aborts] == [starts[0].call_id] * 2
    assert starts[0].call_id != starts[1].call_id

    starts[0].heard(starts[0].call_id, ModelEnded("done"))
    starts[1].heard(starts[1].call_id, "piece")
    starts[1].heard(starts[1].call_id, ModelEnded("done"))

    assert _result(second) == TurnResult()
    assert [script.hear() for _ in range(3)] == [
        TurnStarted(),
        ModelSaid("c1", "piece"),
        ModelSaid("c1", ModelEnded("done")),
    ]


# --- what goes wrong


def test_a_machine_that_raises_hears_of_it_and_ends_the_turn_itself(desk: Desk) -> None:
    script = Script([_start("s1")], ValueError("bug"), [EndTurn(TurnResult("refusal"))])
    slot = desk.turn(script)

    desk.steps.wait_started().end()

    assert _result(slot).stop_reason == "refusal"
    script.hear()
    assert isinstance(script.hear(), StepEnded)
    assert script.hear() == MachineFailed()
    assert desk.ref.is_alive()
    assert desk.stage.telemetry.count("crashed", "executor t1") == 1


@pytest.mark.parametrize("bug", [ValueError("bug"), SystemExit(3)])
def test_a_machine_that_raises_again_is_ended_without_it(desk: Desk, bug: BaseException) -> None:
    slot = desk.turn(Script([_start("s1", "stubborn", grace_s=1.0)], bug, bug))
    step = desk.steps.wait_started()

    desk.cancel(slot)
    _let_it_arm(desk, "kill:s1")
    desk.pass_time(2)

    assert isinstance(_result(slot).error, InternalError)
    assert step.heard == ["abort cancelled", "kill"]
    assert desk.ref.is_alive()


@pytest.mark.parametrize(
    ("error", "expected"),
    [(InvalidParams("no such op"), InvalidParams), (KeyError("bug"), InternalError)],
)
def test_a_turn_that_can_not_begin_is_answered(
    desk: Desk, error: BaseException, expected: type[Exception]
) -> None:
    slot = desk.turn(error)

    assert isinstance(_result(slot).error, expected)
    assert desk.ref.is_alive()


def test_an_effect_that_crashes_the_executor_twice_is_dropped(desk: Desk) -> None:
    script = Script([AskClient("q", "session/request_permission", {})], [DONE])
    slot = desk.slot(script)
    _host(slot).refuses_questions = True

    desk.address.tell(StartTurn(slot))
    desk.survive(2)

    assert _result(slot) == TurnResult()
    script.hear()
    assert script.hear() == ClientAnswered("q", None, failed=True)


def test_an_orderly_restart_goes_on_in_the_middle(desk: Desk) -> None:
    script = Script([_start("s1", timeout_s=10.0), ArmTimer("a", 5)], [], [DONE])
    slot = desk.turn(script)
    step = desk.steps.wait_started()
    script.hear()
    _let_it_arm(desk, "turn:a")
    desk.ref.tell(Stop())
    assert desk.stage.end() is None

    desk.pass_time(6)
    step.end()
    desk.restart()

    assert _result(slot) == TurnResult()
    events = [script.hear(), script.hear()]
    assert TimerFired("a") in events
    assert StepEnded(StepEnd("s1", "returned")) in events


# --- crashes at every point: the machine hears everything exactly once


@pytest.mark.parametrize(
    "point", ["actor.start", "actor.receive", "actor.handled", "executor.decide", "executor.start"]
)
@pytest.mark.parametrize("hit", range(1, 16))
def test_whatever_crashes_the_machine_hears_each_event_once_and_in_order(
    point: str, hit: int
) -> None:
    faults = CrashAt(point, (hit,))
    stage = Stage(faults)
    desk = Desk(stage)
    script = Script(
        [Say(("begin",)), _start("a")],
        [StartCall("c", ModelRequest(lambda _: (), lambda _: ()))],
        [],
        [AskClient("q", "session/request_permission", {})],
        [Say(("answered",)), ArmTimer("t", 1)],
        [_start("d", "stubborn", grace_s=1.0)],
        [AbortStep("d")],
        [Say(("end",)), CANCELLED],
    )
    slot = desk.turn(script)
    heard: list[TurnEvent] = []

    def wait(count: int) -> None:
        """Let time pass and the executor be restarted until the machine has heard ``count``."""
        for _ in range(10_000_000):
            if not stage.ends.empty():
                desk.survive(1)
            while not script.heard.empty():
                heard.append(script.heard.get())
            if len(heard) >= count:
                return
            desk.pass_time(0.01)
        message = f"{count} events expected, heard only {heard}"
        raise TimeoutError(message)

    wait(1)
    while not desk.steps.started:
        wait(1)
    desk.steps.wait_started(1).end()
    wait(2)
    while desk.model.told.empty():
        wait(2)
    call = desk.model.next()
    call.heard(call.call_id, "piece")
    call.heard(call.call_id, ModelEnded("done"))
    wait(4)
    while not _host(slot).questions:
        wait(4)
    desk.address.tell(Answered("t1", "q", "yes", failed=False))
    wait(6)
    while len(desk.steps.started) < 2:
        wait(6)
    desk.cancel(slot)
    wait(8)
    while _host(slot).over.empty():
        wait(8)

    assert _result(slot).stop_reason == "cancelled"
    assert heard == [
        TurnStarted(),
        StepEnded(StepEnd("a", "returned")),
        ModelSaid("c", "piece"),
        ModelSaid("c", ModelEnded("done")),
        ClientAnswered("q", "yes", failed=False),
        TimerFired("t"),
        CancelAsked("client"),
        StepEnded(StepEnd("d", "cancelled")),
    ]
    assert _host(slot).said == ["begin", "answered", "end"]
    assert _host(slot).questions == [("q", "session/request_permission")]
    assert [step.step_id for step in desk.steps.started] == ["a", "d"]
    faults.armed = False
    stage.close()
