"""StepExecutorActor: hosts a turn's machine and owns the steps that it starts.

A handler only starts, signals and records; ends of steps come back as messages.  Everything about
the turn is in its `TurnSlot`, so after a crash the next incarnation goes on where this one stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from actors.base import Actor
from actors.faults import WITH_ERROR, point
from actors.messages import Tick
from actors.model_call import AbortModelCall, ModelEnded, StartModelCall
from actors.session_state import CancelTurn, StartTurn
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
from actors.turn_slot import LiveStep
from actors.work import StepEnd
from protocol.errors import InternalError, ProtocolError
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from actors.address import Address
    from actors.base import System
    from actors.model_call import ModelCallMessage
    from actors.turn import CancelReason, TurnEffect, TurnEvent
    from actors.turn_slot import SessionDesk, TurnSlot
    from actors.work import AbortReason, StepService

GRACE_S = 2.0
"""Seconds between TERM and KILL where the step says nothing else."""
SPARED_S = 2.5
"""What a hard stop leaves a step that it spares; a server gives itself three seconds then."""
MAX_MACHINE_FAULTS = 1
"""How often a turn's machine may raise before the turn is ended without it."""

MAX_TRIES = 2
"""How often an effect may crash the executor before it is dropped."""

BEFORE_MACHINE = point("executor.decide", "a turn's machine is about to hear an event")
BEFORE_START = point("executor.start", "the executor is about to start a step", WITH_ERROR)
AFTER_START = point("executor.started", "the executor has started a step")


class StepOver(NamedTuple):
    """Reaper to executor: a step ended; its slot holds how."""

    turn_id: str
    step_id: str


class CallHeard(NamedTuple):
    """Model call to executor: a piece of a stream, or its end."""

    turn_id: str
    call_id: str
    event: Any


class Answered(NamedTuple):
    """Router to executor: the client answered a question of the turn."""

    turn_id: str
    key: str
    answer: Any
    failed: bool


ExecutorMessage: TypeAlias = StartTurn | CancelTurn | StepOver | CallHeard | Answered | Tick


class StepExecutorActor(Actor[ExecutorMessage]):
    """Runs one turn at a time: events in, effects performed, no waiting."""

    def __init__(
        self,
        system: System,
        address: Address[ExecutorMessage],
        desk: SessionDesk,
        steps: StepService,
        model: Address[ModelCallMessage],
    ) -> None:
        """Work on the turn that lies on ``desk``."""
        super().__init__(system, address)
        self._desk = desk
        self._steps = steps
        self._model = model
        self._in_hand: ExecutorMessage | None = None
        self._noted: ExecutorMessage | None = None
        """The last message that can't get lost any more: its slot shows what came of it."""

    def started(self) -> None:
        """Look after a turn that an earlier incarnation left."""
        slot = self._desk.slot
        if slot is not None and slot.state != "ended":
            self._recover(slot)

    def receive(self, message: ExecutorMessage) -> None:
        """Handle one message of the turn in hand; of any other turn it is too late."""
        self._in_hand = message
        self._take(message)
        self._noted = message

    def last_words(self, message: ExecutorMessage) -> None:
        """Leave a message that was not handled to the next incarnation."""
        slot = self._desk.slot
        if slot is not None and message is not self._noted and not isinstance(message, Tick):
            slot.lost.append(message)

    def _take(self, message: ExecutorMessage) -> None:
        slot = self._desk.slot
        if slot is None:
            return
        if isinstance(message, Tick):
            self._tick(slot, message.key)
        elif isinstance(message, StartTurn):
            if message.slot is slot:
                self._begin(slot)
                # Begun already, by `_recover`: a cancel may have overtaken this message at the
                # session, which then did not know the turn and dropped it.
                self._pass_cancel(slot)
        elif message.turn_id == slot.turn_id and slot.machine is not None:
            self._event(slot, message)

    def _event(self, slot: TurnSlot, message: CancelTurn | StepOver | CallHeard | Answered) -> None:
        match message:
            case CancelTurn():
                self._pass_cancel(slot)
            case StepOver(_, step_id):
                self._step_over(slot, step_id)
            case CallHeard(_, call_id, event):
                if isinstance(event, ModelEnded):
                    slot.calls.pop(call_id, None)
                self._feed(slot, ModelSaid(call_id, event))
            case Answered(_, key, answer, failed):
                if slot.state == "waiting":
                    slot.state = "running"
                self._feed(slot, ClientAnswered(key, answer, failed))

    # --- the turn

    def _begin(self, slot: TurnSlot) -> None:
        if slot.machine is not None or slot.result is not None:
            return
        if slot.cancel is not None:  # it came before anything was done, so nothing is done
            self._end(slot, TurnResult("cancelled"))
            return
        slot.state = "running"
        try:
            machine = slot.host.begin()
        except ProtocolError as error:
            self._end(slot, TurnResult(error=error))
            return
        except BaseException as error:  # noqa: BLE001 - it would raise again after a restart
            self._log_bug(slot, error)
            self._end(slot, TurnResult(error=InternalError()))
            return
        slot.machine, slot.unheard = machine, TurnStarted()
        self._go_on(slot)
        self._pass_cancel(slot)

    def _pass_cancel(self, slot: TurnSlot) -> None:
        """Tell the machine of a cancel, unless it has heard this one; a hard stop has no grace."""
        if slot.cancel is not None and slot.cancel != slot.cancel_told:
            slot.cancel_told = slot.cancel
            self._feed(slot, CancelAsked(slot.cancel))
            self._kill_if_hard(slot)

    def _feed(self, slot: TurnSlot, event: TurnEvent) -> None:
        if slot.machine is not None and slot.result is None:
            slot.unheard = event
            self._noted = self._in_hand
            self._go_on(slot)

    def _go_on(self, slot: TurnSlot) -> None:
        """Let the machine hear what it has not heard, and do what is not done."""
        while slot.result is None and (slot.unheard is not None or slot.todo):
            if slot.todo:
                self._perform_next(slot)
            else:
                self._tell_machine(slot)

    def _tell_machine(self, slot: TurnSlot) -> None:
        event, machine = slot.unheard, slot.machine
        assert event is not None and machine is not None  # noqa: S101, PT018 - only fed if there is one
        self.system.faults.at(BEFORE_MACHINE, slot.turn_id)
        try:
            slot.todo.extend(machine.handle(event))
        except BaseException as error:  # noqa: BLE001 - a turn's bug must not cost its neighbours
            self._log_bug(slot, error)
            self._machine_failed(slot)
        else:
            slot.unheard = None

    def _log_bug(self, slot: TurnSlot, error: BaseException) -> None:
        self.system.telemetry.event("crashed", f"{self.address.name} {slot.turn_id}", reason=error)

    def _machine_failed(self, slot: TurnSlot) -> None:
        """Tell the machine that it failed; after the second time end the turn without it."""
        slot.unheard = MachineFailed()
        slot.machine_faults += 1
        if slot.machine_faults > MAX_MACHINE_FAULTS:
            self._end(slot, TurnResult(error=InternalError()))

    def _perform_next(self, slot: TurnSlot) -> None:
        slot.tries += 1
        self._perform(slot, slot.todo[0])
        slot.todo.popleft()
        slot.tries = 0

    def _perform(self, slot: TurnSlot, effect: TurnEffect) -> None:
        match effect:
            case Say(items):
                slot.outlet.say(items)
            case StartStep():
                self._start_step(slot, effect)
            case AbortStep(step_id):
                if (live := slot.steps.get(step_id)) is not None:
                    self._abort(live, "cancelled")
            case ArmTimer(key, delay_s):
                slot.timers[key] = self.system.platform.monotonic() + delay_s
                self.arm_timer(f"turn:{key}", delay_s)
            case DropTimer(key):
                slot.timers.pop(key, None)
                self.drop_timer(f"turn:{key}")
            case StartCall() | AbortCall():
                self._call(slot, effect)
            case AskClient(key, method, params):
                if slot.state == "running":
                    slot.state = "waiting"
                slot.host.put_question(slot, key, method, params)
            case EndTurn(result):
                self._end(slot, result)

    def _call(self, slot: TurnSlot, effect: StartCall | AbortCall) -> None:
        turn_id, call_id, me = slot.turn_id, effect.call_id, self.address
        if isinstance(effect, AbortCall):
            self._model.tell(AbortModelCall(_call_key(slot, call_id)))
            return
        slot.calls[call_id] = None

        def heard(_: str, event: Any) -> None:
            me.tell(CallHeard(turn_id, call_id, event))

        source, key = slot.outlet.open_source(), _call_key(slot, call_id)
        self._model.tell(StartModelCall(key, effect.request, source, heard))

    def _end(self, slot: TurnSlot, result: TurnResult) -> None:
        """Take the machine's last word; it is given once no step of the turn runs any more."""
        slot.result = result
        for live in slot.steps.values():
            self._abort(live, "cancelled")
        for call_id in slot.calls:
            self._model.tell(AbortModelCall(_call_key(slot, call_id)))
        for key in slot.timers:
            self.drop_timer(f"turn:{key}")
        slot.timers.clear()
        self._finish_if_quiet(slot)

    def _finish_if_quiet(self, slot: TurnSlot) -> None:
        result = slot.result
        if result is not None and not slot.steps:
            slot.state = "ended"
            slot.outlet.finish(lambda: slot.host.answer(result))

    # --- steps

    def _start_step(self, slot: TurnSlot, order: StartStep) -> None:
        self.system.faults.at(BEFORE_START, order.step_id)
        known = slot.steps.get(order.step_id)
        if known is not None and known.handle is not None:
            return  # started by an incarnation that crashed right after
        live = LiveStep(order.step_id, grace_s=order.grace_s, spared=order.spared)
        slot.steps[order.step_id] = live
        turn_id, me = slot.turn_id, self.address

        def ended(end: StepEnd) -> None:
            live.end = end
            me.tell(StepOver(turn_id, order.step_id))

        if order.timeout_s is not None:
            live.timeout_at = self.system.platform.monotonic() + order.timeout_s
            self.arm_timer(f"timeout:{order.step_id}", order.timeout_s)
        source = slot.outlet.open_source()
        live.handle = self._steps.start(order.step_id, order.work, source, order.render, ended)
        self.system.faults.at(AFTER_START, order.step_id)

    def _step_over(self, slot: TurnSlot, step_id: str) -> None:
        live = slot.steps.get(step_id)
        if live is None or live.end is None:
            return
        self.drop_timer(f"timeout:{step_id}")
        self.drop_timer(f"kill:{step_id}")
        del slot.steps[step_id]
        live.handle = None  # it knows how to end `live`: a circle, which only the collector breaks
        self._feed(slot, StepEnded(live.end))
        self._finish_if_quiet(slot)

    def _abort(self, live: LiveStep, reason: AbortReason) -> None:
        if live.aborted is not None or live.end is not None or live.handle is None:
            return
        live.aborted = reason
        live.handle.abort(reason)
        self.arm_timer(f"kill:{live.step_id}", GRACE_S if live.grace_s is None else live.grace_s)

    def _kill_if_hard(self, slot: TurnSlot) -> None:
        if slot.cancel_told != "hard_stop":
            return
        for live in slot.steps.values():
            if live.spared:
                self.arm_timer(f"kill:{live.step_id}", SPARED_S)
                continue
            self._abort(live, "cancelled")
            if live.handle is not None and live.end is None:
                live.handle.kill()

    def _tick(self, slot: TurnSlot, key: str) -> None:
        kind, _, name = key.partition(":")
        live = slot.steps.get(name)
        if kind == "turn" and slot.timers.pop(name, None) is not None:
            self._feed(slot, TimerFired(name))
        elif kind == "timeout" and live is not None:
            self._abort(live, "timed_out")
        elif kind == "kill" and live is not None and live.handle is not None:
            live.handle.kill()

    # --- after a crash

    def _recover(self, slot: TurnSlot) -> None:
        """Go on with the turn: what was not heard, not done, lost on the way, or armed."""
        self._rearm(slot)
        if slot.tries >= MAX_TRIES:
            self._give_up(slot)
        self._begin(slot)
        self._go_on(slot)
        while slot.lost:
            self._take(slot.lost.popleft())
        self._pass_cancel(slot)
        self._kill_if_hard(slot)
        for step_id in tuple(slot.steps):
            self._step_over(slot, step_id)
        self._finish_if_quiet(slot)

    def _give_up(self, slot: TurnSlot) -> None:
        """Drop the effect that crashed us each time; the machine hears what came of it."""
        effect = slot.todo.popleft()
        slot.tries = 0
        why = "the executor crashed each time it tried"
        match effect:
            case StartStep(step_id):
                live = slot.steps.get(step_id)
                if live is not None and live.handle is not None:
                    return  # it runs, and its end follows
                slot.steps.pop(step_id, None)
                slot.unheard = StepEnded(StepEnd(step_id, "failed", error=why))
            case StartCall(call_id):
                slot.calls.pop(call_id, None)
                slot.unheard = ModelSaid(call_id, ModelEnded("failed", RuntimeError(why)))
            case AskClient(key):
                slot.unheard = ClientAnswered(key, None, failed=True)
            case _:
                self._machine_failed(slot)

    def _rearm(self, slot: TurnSlot) -> None:
        now = self.system.platform.monotonic()
        for key, due in slot.timers.items():
            self.arm_timer(f"turn:{key}", due - now)
        for live in slot.steps.values():
            if live.aborted is not None:
                grace_s = GRACE_S if live.grace_s is None else live.grace_s
                self.arm_timer(f"kill:{live.step_id}", grace_s)
            elif live.timeout_at is not None:
                self.arm_timer(f"timeout:{live.step_id}", live.timeout_at - now)


def _call_key(slot: TurnSlot, call_id: str) -> str:
    """Name a call for the model call actor, which knows no turns."""
    return f"{slot.turn_id}/{call_id}"


def cancel_order(slot: TurnSlot, reason: CancelReason) -> CancelTurn:
    """Mark the turn as cancelled and return what its session must be told."""
    slot.ask_cancel(reason)
    return CancelTurn(slot.turn_id, reason)
