"""One turn of the agent on the actor runtime: record, call, record, run tools, record, …  Pure.

`turn_state` decides what comes next, `tool_round` runs the calls of an answer; here both are
joined to the executor, to the journal, to cancels and to the clock.  Nothing goes on before what
was decided is in the journal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from actors.model_call import ModelEnded
from actors.turn import (
    AbortCall,
    ArmTimer,
    CancelAsked,
    ClientAnswered,
    EndTurn,
    MachineFailed,
    ModelSaid,
    Say,
    StartCall,
    StepEnded,
    TimerFired,
    TurnResult,
)
from actors.turn import TurnStarted as Begin
from runtimes.models.answer import Answer, CallError
from runtimes.models.calling import Retrying
from runtimes.radian import events
from runtimes.radian.exit_codes import INTERNAL, ending_of
from runtimes.radian.fold import fold_turn
from runtimes.radian.journal_queue import JournalQueue, Write
from runtimes.radian.records import TurnEnded, TurnStarted
from runtimes.radian.result import meta_of
from runtimes.radian.tool_round import ToolRound
from runtimes.radian.turn_state import CallModel, RunTools, Told, TurnState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.turn import TurnEffect, TurnEvent
    from runtimes.radian.exit_codes import Ending
    from runtimes.radian.fold import TurnFold
    from runtimes.radian.journal_queue import AgentEffect
    from runtimes.radian.records import Entry, Origin, UserMessage
    from runtimes.radian.turn_desk import TurnDesk
    from runtimes.radian.turn_state import Next

TIME_LIMIT = "turn"
Stop: TypeAlias = Literal["cancelled", "terminated", "time", "journal", "fault"]
Stage: TypeAlias = Literal["new", "writing", "calling", "tools", "closing", "over"]


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """What became of a turn, for whoever asked for it; ``fold.end`` is its last record."""

    fold: TurnFold
    ending: Ending
    journaled: bool = True
    """False: its end could not be written."""


class AgentTurn:
    """See the module; `actors.turn.TurnMachine` for the interface."""

    def __init__(self, desk: TurnDesk, turn: int, origin: Origin, message: UserMessage) -> None:
        """``turn`` counts from 1; ``message`` is what it is asked."""
        self._desk = desk
        self._turn = turn
        self._origin: Origin = origin
        self._message = message
        self._state = TurnState(turn, desk.model.model, desk.limits, desk.used_ids)
        self._queue = JournalQueue(f"t{turn}", desk.journal)
        self._own: list[Entry] = []
        self._stage: Stage = "new"
        self._next: Next | None = None
        self._round: ToolRound | None = None
        self._call = 0
        self._told: Told | None = None
        self._retries = 0
        self._rounds = 0
        self._stopped: Stop | None = None
        self._error: str | None = None
        self._began_s = 0.0
        self._end = TurnEnded(turn, "Interrupted")

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """Take one event."""
        return [] if self._stage == "over" else self._expand(self._take(event))

    def _take(self, event: TurnEvent) -> list[AgentEffect]:
        match event:
            case Begin():
                return self._begin()
            case StepEnded(end) if self._queue.owns(end.step_id):
                return self._written(self._queue.ended(end))
            case StepEnded() | ClientAnswered():
                return self._tools(event)
            case ModelSaid(call_id, said) if call_id == self._call_id():
                return self._said(said)
            case TimerFired(key) if key == TIME_LIMIT:
                return self._stop("time")
            case CancelAsked(reason):
                return self._stop("terminated" if reason == "shutdown" else "cancelled")
            case MachineFailed():
                return self._fault()
            case _:
                return []

    def _expand(self, effects: Iterable[AgentEffect]) -> list[TurnEffect]:
        """Put writes in the place of records."""
        expanded: list[TurnEffect] = []
        for effect in effects:
            if isinstance(effect, Write):
                expanded += self._queue.put(effect)
            else:
                expanded.append(effect)
        return expanded

    # --- the way of a turn

    def _begin(self) -> list[AgentEffect]:
        self._stage, self._began_s = "writing", self._desk.monotonic()
        self._next = self._state.next_call()
        limit_s = self._desk.limits.time_s
        timer: list[AgentEffect] = [] if limit_s is None else [ArmTimer(TIME_LIMIT, limit_s)]
        news = self._desk.jobs.news(self._turn)
        said = Say((events.TurnStarted(self._turn, self._origin), *news.events))
        began = TurnStarted(self._turn, self._origin)
        return [said, *timer, Write((began, *news.records, self._message))]

    def _written(self, entries: tuple[Entry, ...] | str) -> list[AgentEffect]:
        """Go on if all is written; text says why it is not."""
        if isinstance(entries, str):
            return self._journal_failed(entries)
        self._own += entries
        self._desk.entries += entries
        return [*self._queue.more(), *self._go_on()]

    def _go_on(self) -> list[AgentEffect]:
        """Do what comes next, once the journal holds what was before."""
        if not self._queue.idle:
            return []
        match self._stage:
            case "closing":
                return self._over()
            case "writing" if self._next is not None:
                comes_next, self._next = self._next, None
                return self._do(comes_next)
            case "tools" if self._round is not None and self._round.done:
                if self._round.cancelled_by_person:
                    self._stopped = self._stopped or "cancelled"
                self._round = None
                return self._tools_done()
            case _:
                return []

    def _tools_done(self) -> list[AgentEffect]:
        """Call the model with the results, and with what background jobs have come to."""
        news = self._desk.jobs.news(self._turn)
        comes_next = self._state.next_call()
        if not news.records or self._stopped is not None:
            return self._do(comes_next)
        self._stage, self._next = "writing", comes_next
        return [Say(tuple(news.events)), Write(tuple(news.records))]

    def _do(self, comes_next: Next) -> list[AgentEffect]:
        if self._stopped is not None:
            return self._close(self._stop_record(self._stopped))
        match comes_next:
            case CallModel():
                return self._start_call(comes_next)
            case RunTools(calls):
                self._stage = "tools"
                self._rounds += 1
                key = f"t{self._turn}.{self._rounds}"
                self._round = ToolRound(self._turn, key, calls, self._desk.tools)
                return [*self._round.begin(), *self._go_on()]
            case TurnEnded():
                return self._close(comes_next)

    def _start_call(self, call: CallModel) -> list[AgentEffect]:
        self._stage, self._call, self._told = "calling", call.call, None
        work = self._desk.model.work(self._turn, call, self._desk.entries)
        return [StartCall(self._call_id(), work)]

    def _said(self, said: Any) -> list[AgentEffect]:
        match said:
            case Told():
                self._told = said
            case Retrying():
                self._retries += 1
            case ModelEnded(error=error):
                return self._call_ended(error)
            case _:
                pass
        return []

    def _call_ended(self, error: BaseException | None) -> list[AgentEffect]:
        """Record an answer once its stream is over; a call without one has failed."""
        told = self._told
        if told is None:
            lost = "the call was lost" if error is None else f"{type(error).__name__}: {error}"
            failed = Answer(error=CallError(self._desk.mask(lost)))
            told = Told(Answer(finish="cancelled") if self._stopped else failed)
        message, self._next = self._state.answered(told)
        self._stage = "writing"
        if message.finish == "cancelled" and not message.parts and message.usage is None:
            return self._go_on()
        return [Write((message,))]

    def _tools(self, event: StepEnded | ClientAnswered) -> list[AgentEffect]:
        if self._round is None:
            return []
        effects = self._round.hear(event)
        if self._round.cancelled_by_person:
            effects += self._stop("cancelled")
        return (
            effects
            if any(isinstance(each, Write) for each in effects)
            else [
                *effects,
                *self._go_on(),
            ]
        )

    # --- the end

    def _stop(self, why: Stop) -> list[AgentEffect]:
        if self._stopped is not None or self._stage == "closing":
            return []
        self._stopped = why
        match self._stage:
            case "calling":
                return [AbortCall(self._call_id())]
            case "tools" if self._round is not None:
                return [*self._round.stop(), *self._go_on()]
            case _:
                return []

    def _stop_record(self, why: Stop) -> TurnEnded:
        match why:
            case "time":
                error = f"the turn took longer than {self._desk.limits.time_s:g} s"
                return TurnEnded(self._turn, "Incomplete", "time", error=error)
            case "journal" | "fault":
                return TurnEnded(self._turn, "Failed", origin=INTERNAL, error=self._error)
            case _:
                return TurnEnded(self._turn, "Interrupted")

    def _close(self, end: TurnEnded) -> list[AgentEffect]:
        self._stage, self._end = "closing", self._timed(end)
        started = self._desk.jobs.news(self._turn, ends=False).records
        return [Write((*started, self._end), sync=True)]

    def _timed(self, end: TurnEnded) -> TurnEnded:
        wall_ms = round((self._desk.monotonic() - self._began_s) * 1000)
        return replace(end, wall_ms=wall_ms)

    def _journal_failed(self, why: str) -> list[AgentEffect]:
        """End without a record: what can't be written down must not go on."""
        self._error = why
        first, self._stopped = self._stopped != "journal", "journal"
        self._end = self._timed(self._stop_record("journal"))
        if self._stage == "calling" and first:
            return [AbortCall(self._call_id()), *self._over(journaled=False)]
        stopping = self._round.stop() if self._round is not None else []
        left = [each for each in stopping if not isinstance(each, Write)]
        return [*left, *self._over(journaled=False)]

    def _fault(self) -> list[AgentEffect]:
        """We raised, and what that event asked for was never done: end the turn in order."""
        self._stopped = "fault"
        self._error = "a fault of radian's own; the log has it"
        return self._close(self._stop_record("fault"))

    def _over(self, *, journaled: bool = True) -> list[AgentEffect]:
        self._stage = "over"
        fold = fold_turn(self._own, self._turn, retries=self._retries)
        if not journaled:
            fold = replace(fold, end=self._end)
        ending = ending_of(self._end, terminated=self._stopped == "terminated")
        outcome = TurnOutcome(fold, ending, journaled)
        said = events.TurnEnded(self._turn, self._end.end, self._end.reason, self._end.error)
        result = TurnResult(ending.stop_reason, meta_of(fold), value=outcome)
        return [Say((said,)), EndTurn(result)]

    def _call_id(self) -> str:
        return f"t{self._turn}.call{self._call}"
