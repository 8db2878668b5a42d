"""One turn of the agent on the actor runtime.  Pure.

What is asked and answered is decided by `conversation`; here it is joined to the executor, to the
journal, to cancels and to the clock.  Nothing goes on before what was decided is in the journal;
an end goes nowhere, so it is written with what it follows from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from actors.model_call import ModelEnded
from actors.turn import (
    AbortCall,
    AbortStep,
    ArmTimer,
    CancelAsked,
    ClientAnswered,
    EndTurn,
    MachineFailed,
    ModelSaid,
    Say,
    StartCall,
    StartStep,
    StepEnded,
    TimerFired,
    TurnResult,
)
from actors.turn import TurnStarted as Begin
from protocol.values import frozen
from runtimes.radian import events
from runtimes.radian.conversation import Conversation
from runtimes.radian.exit_codes import INTERNAL, ending_of
from runtimes.radian.fold import fold_turn, last_text
from runtimes.radian.journal_queue import JournalQueue, Write
from runtimes.radian.purse import Purse
from runtimes.radian.records import TurnEnded, TurnStarted
from runtimes.radian.result import meta_of
from runtimes.radian.session_jobs import shown
from runtimes.radian.subagents import Subagents
from runtimes.radian.turn_hooks import TurnHooks
from runtimes.radian.turn_state import TurnState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.turn import TurnEffect, TurnEvent
    from runtimes.radian.exit_codes import Ending
    from runtimes.radian.fold import TurnFold
    from runtimes.radian.journal_queue import AgentEffect, Written
    from runtimes.radian.records import Entry, Origin, UserMessage
    from runtimes.radian.turn_desk import TurnDesk

TIME_LIMIT = "turn"
LEAVE_LIMIT = "leave"
LEAVE_S = 5.0
"""What is left of a turn gets to end, once nothing more can be recorded."""
Stop: TypeAlias = Literal["cancelled", "terminated", "time", "journal", "fault"]
Stage: TypeAlias = Literal["new", "running", "closing", "leaving", "over"]


@frozen
class TurnOutcome:
    """What became of a turn, for whoever asked for it; ``fold.end`` is its last record."""

    fold: TurnFold
    ending: Ending
    journaled: bool = True
    """False: its end could not be written."""


class AgentTurn:
    """See the module; `actors.turn.TurnMachine` for the interface."""

    def __init__(
        self,
        desk: TurnDesk,
        turn: int,
        origin: Origin,
        message: UserMessage | None,
        notices: tuple[events.Warning, ...] = (),
    ) -> None:
        """``turn`` counts from 1; ``message`` is what it is asked, None: only what jobs tell."""
        self._desk = desk
        self._turn = turn
        self._origin: Origin = origin
        self._asked = () if message is None else (message,)
        self._notices = notices
        purse = Purse()
        state = TurnState(turn, desk.model.model, desk.limits, desk.used_ids, purse)
        subagents = Subagents(desk, turn, purse)
        self._conversation = Conversation(
            desk, turn, f"t{turn}", state, news=self._news, subagents=subagents
        )
        self._hooks = TurnHooks(desk.tools.hooks, turn)
        self._queue = JournalQueue(f"t{turn}", desk.journal, desk.jobs.recorded)
        self._own: list[Entry] = []
        self._open: dict[str, AbortCall | AbortStep] = {}
        """What would end each call and step that has not ended."""
        self._stage: Stage = "new"
        self._stopped: Stop | None = None
        self._error: str | None = None
        self._began_s = 0.0
        self._journaled = True
        self._end = TurnEnded(turn, "Interrupted")

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """Take one event."""
        self._see_end(event)
        if self._stage == "over":
            return []
        if self._stage == "leaving":
            return self._leave(event)
        effects = self._expand(self._take(event))
        while (self._queue.idle or self._only_writes) and (more := self._go_on()):
            effects += self._expand(more)
        effects += self._queue.more()
        self._see_starts(effects)
        return effects

    def _see_end(self, event: TurnEvent) -> None:
        match event:
            case StepEnded(end):
                self._open.pop(end.step_id, None)
            case ModelSaid(call_id, ModelEnded()):
                self._open.pop(call_id, None)
            case _:
                pass

    def _see_starts(self, effects: Iterable[TurnEffect]) -> None:
        for effect in effects:
            match effect:
                case StartStep(step_id):
                    self._open[step_id] = AbortStep(step_id)
                case StartCall(call_id):
                    self._open[call_id] = AbortCall(call_id)
                case _:
                    pass

    def _take(self, event: TurnEvent) -> list[AgentEffect]:
        match event:
            case Begin():
                return self._begin()
            case StepEnded(end) if self._queue.owns(end.step_id):
                return self._written(self._queue.ended(end))
            case StepEnded() | ClientAnswered() | ModelSaid() if self._stage == "running":
                return self._heard(event)
            case TimerFired(key) if key == TIME_LIMIT:
                return self._stop("time")
            case CancelAsked(reason):
                return self._stop("terminated" if reason == "shutdown" else "cancelled")
            case MachineFailed():
                return self._fault()
            case _:
                return []

    def _expand(self, effects: Iterable[AgentEffect]) -> list[TurnEffect]:
        """Hand the writes to the journal's queue; what one event asks for goes out together."""
        expanded: list[TurnEffect] = []
        for effect in effects:
            if isinstance(effect, Write):
                self._queue.put(effect)
            else:
                expanded.append(effect)
        return expanded

    @property
    def _only_writes(self) -> bool:
        """What was decided last is the end: it is recorded in the same write."""
        running = self._stage == "running" and not self._hooks.judge_stops
        return running and self._conversation.is_ending

    # --- the way of a turn

    def _begin(self) -> list[AgentEffect]:
        self._stage, self._began_s = "running", self._desk.monotonic()
        limit_s = self._desk.limits.time_s
        timer: list[AgentEffect] = [] if limit_s is None else [ArmTimer(TIME_LIMIT, limit_s)]
        self._desk.jobs.take_back()
        news = self._desk.jobs.news(self._turn)
        said = Say((events.TurnStarted(self._turn, self._origin), *self._notices))
        records = (TurnStarted(self._turn, self._origin), *news)
        judging = self._hooks.open(self._origin, self._asked)
        if judging is None:
            return [said, *timer, Write((*records, *self._opened()))]
        return [said, *timer, Write(records), *judging, *self._after_hooks()]

    def _heard(self, event: StepEnded | ClientAnswered | ModelSaid) -> list[AgentEffect]:
        if isinstance(event, StepEnded) and self._hooks.owns(event.end.step_id):
            return [*self._hooks.ended(event.end), *self._after_hooks()]
        effects = self._conversation.hear(event)
        if self._conversation.cancelled_by_person:
            effects += self._stop("cancelled")
        return effects

    def _written(self, written: Written) -> list[AgentEffect]:
        """Keep what is written now, and show what is new of jobs."""
        self._own += written.entries
        self._desk.entries += written.entries
        jobs = shown(written.entries)
        said: list[AgentEffect] = [Say(jobs)] if jobs else []
        if written.error is not None:
            return [*said, *self._journal_failed(written.error)]
        return said

    def _go_on(self) -> list[AgentEffect]:
        """Do what comes next: the journal holds what was before."""
        if self._stage != "running":
            return self._over() if self._stage == "closing" else []
        if self._hooks.running:
            return []
        more = self._conversation.settled()
        end = self._conversation.end
        if more or end is None:
            return more
        if self._stopped is not None or end.end != "Completed":
            return self._end_with(end)
        judging = self._hooks.before_stop(last_text(entry.record for entry in self._own))
        return self._close(end) if judging is None else [*judging, *self._after_hooks()]

    # --- what hooks say

    def _after_hooks(self) -> list[AgentEffect]:
        """Go on once all of them have spoken."""
        verdict = self._hooks.take_verdict()
        if verdict is None:
            return []
        end = self._conversation.end
        if end is not None and self._stopped is None and (on := self._hooks.sent_on(verdict)):
            self._conversation.begin()
            return [Write((on,))]
        refused = self._hooks.refused(verdict)
        if refused is not None:
            return self._end_with(refused)
        told = self._hooks.told(verdict)
        if end is None:
            return [Write((*self._opened(), *told))]
        return [*self._hooks.overruled(verdict), Write(told), *self._end_with(end)]

    def _opened(self) -> tuple[UserMessage, ...]:
        """Begin the conversation; return what it is asked."""
        self._hooks.opened()
        self._conversation.begin()
        return self._asked

    def _news(self) -> list[AgentEffect]:
        """Tell what background jobs have come to."""
        news = self._desk.jobs.news(self._turn)
        return [Write(news)] if news else []

    # --- the end

    def _stop(self, why: Stop) -> list[AgentEffect]:
        if self._stopped is not None or self._stage == "closing":
            return []
        self._stopped = why
        return [*self._hooks.stop(), *self._conversation.stop()]

    def _stop_record(self, why: Stop) -> TurnEnded:
        match why:
            case "time":
                error = f"the turn took longer than {self._desk.limits.time_s:g} s"
                return TurnEnded(self._turn, "Incomplete", "time", error=error)
            case "journal" | "fault":
                return TurnEnded(self._turn, "Failed", origin=INTERNAL, error=self._error)
            case _:
                return TurnEnded(self._turn, "Interrupted")

    def _end_with(self, end: TurnEnded) -> list[AgentEffect]:
        return self._close(end if self._stopped is None else self._stop_record(self._stopped))

    def _close(self, end: TurnEnded) -> list[AgentEffect]:
        started = self._desk.jobs.news(self._turn, ends=False)
        self._stage, self._end = "closing", self._timed(end)
        return [Write((*started, self._end), sync=True)]

    def _timed(self, end: TurnEnded) -> TurnEnded:
        wall_ms = round((self._desk.monotonic() - self._began_s) * 1000)
        return replace(end, wall_ms=wall_ms)

    def _journal_failed(self, why: str) -> list[AgentEffect]:
        """End without a record: what can't be written down must not go on."""
        self._error, self._stopped = why, "journal"
        self._queue.drop()
        self._desk.jobs.take_back()
        self._end = self._timed(self._stop_record("journal"))
        here = Write | AbortCall | AbortStep
        left = [each for each in self._conversation.stop() if not isinstance(each, here)]
        self._journaled = False
        return [*left, *self._over()]

    def _fault(self) -> list[AgentEffect]:
        """We raised, and what that event asked for was never done: end the turn in order."""
        if self._stage == "closing":
            return []  # its end is recorded, or about to be: there is but one
        self._stopped = "fault"
        self._error = "a fault of radian's own; the log has it"
        return self._close(self._stop_record("fault"))

    def _over(self) -> list[AgentEffect]:
        """Say the last word, once nothing of the turn goes on."""
        untold = self._conversation.untold()
        if not self._open:
            return [*untold, *self._last_word()]
        self._stage = "leaving"
        return [*untold, *self._open.values(), ArmTimer(LEAVE_LIMIT, LEAVE_S)]

    def _leave(self, event: TurnEvent) -> list[TurnEffect]:
        """Wait for what was stopped, but not for ever; what it comes to goes nowhere."""
        if isinstance(event, TimerFired) and event.key == LEAVE_LIMIT:
            self._open.clear()
        return [] if self._open else self._last_word()

    def _last_word(self) -> list[TurnEffect]:
        fold = fold_turn(self._own, self._turn, retries=self._conversation.retries)
        if not self._journaled:
            fold = replace(fold, end=self._end)
        ending = ending_of(self._end, terminated=self._stopped == "terminated")
        outcome = TurnOutcome(fold, ending, self._journaled)
        said = events.TurnEnded(self._turn, self._end.end, self._end.reason, self._end.error)
        result = TurnResult(ending.stop_reason, meta_of(fold), value=outcome)
        self._stage = "over"
        return [Say((said,)), EndTurn(result)]
