"""One conversation of a turn: the model is called, its calls are run, it is called again.  Pure.

`turn_state` decides what comes next, `tool_round` runs the calls of an answer.  Nothing goes on
before what was decided is in the journal: `settled` says that it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from actors.model_call import ModelEnded
from actors.turn import AbortCall, ModelSaid, Say, StartCall
from runtimes.models.answer import Answer, CallError
from runtimes.models.calling import Retrying
from runtimes.radian import events
from runtimes.radian.compaction import is_due, plan_of
from runtimes.radian.journal_queue import Write
from runtimes.radian.records import TurnEnded
from runtimes.radian.turn_state import CallModel, Compact, RunTools, Told, TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.turn import ClientAnswered, StepEnded
    from runtimes.models.base import ToolUse
    from runtimes.radian.compacting import Compacting
    from runtimes.radian.journal_queue import AgentEffect
    from runtimes.radian.subagents import Subagents
    from runtimes.radian.tool_round import ToolRound
    from runtimes.radian.turn_desk import TurnDesk
    from runtimes.radian.turn_state import Next

Stage: TypeAlias = Literal["new", "writing", "calling", "tools", "over"]


def no_news() -> list[AgentEffect]:
    """Tell nothing between two calls of the model."""
    return []


class Conversation:
    """See the module.  What it wants done is returned by each method."""

    def __init__(
        self,
        desk: TurnDesk,
        turn: int,
        key: str,
        state: TurnState,
        *,
        news: Callable[[], list[AgentEffect]] = no_news,
        subagents: Subagents | None = None,
    ) -> None:
        """``key`` begins the ids of its calls and steps; unique in the session.

        ``news`` is done before the model gets the results of its calls.  ``subagents``: None
        where a conversation has none.
        """
        self._desk = desk
        self._turn = turn
        self._key = key
        self._state = state
        self._news = news
        self._subagents = subagents
        self._stage: Stage = "new"
        self._next: Next | None = None
        self._round: ToolRound | None = None
        self._rounds = 0
        self._call = 0
        self._told: Told | None = None
        self._compacting: Compacting | None = None
        """A call for a summary is on its way."""
        self._stopped = False
        self._late: list[AgentEffect] = []
        """What a round that was stopped had to tell."""
        self.retries = 0
        self.cancelled_by_person = False
        """A question was answered by cancelling the turn."""
        self.end: TurnEnded | None = None
        """Why it is over; stopped: whatever it was about to do."""

    def begin(self) -> None:
        """Call the model once what it is asked is written; also again, after it was over."""
        self._stage, self._next, self.end = "writing", self._state.next_call(), None

    @property
    def is_ending(self) -> bool:
        """It ends as soon as it goes on, whatever is still to be written."""
        if self._stage == "writing":
            return self._stopped or isinstance(self._next, TurnEnded)
        return self._stopped and self._round is not None and self._round.done

    def hear(self, event: StepEnded | ClientAnswered | ModelSaid) -> list[AgentEffect]:
        """Take what came of a step, a question or a call of the model."""
        if isinstance(event, ModelSaid) and event.call_id == self._call_id:
            return self._said(event.event) if self._stage == "calling" else []
        if self._round is None:
            return []
        effects = self._round.hear(event)
        self.cancelled_by_person = self.cancelled_by_person or self._round.cancelled_by_person
        return effects

    def settled(self) -> list[AgentEffect]:
        """Go on: all that was to be written is in the journal."""
        if self._stage == "writing" and self._next is not None:
            comes_next, self._next = self._next, None
            return self._do(comes_next)
        if self._round is None:
            return []
        effects = self._round.settled()
        if not self._round.done or any(isinstance(each, Write) for each in effects):
            return effects
        self._late += self._round.untold()
        self._round = None
        # In one go: of what a subagent tells there may be nothing left to show, and then this
        # would look as if there were nothing to do.
        return [*effects, *self._tools_done()]

    def stop(self) -> list[AgentEffect]:
        """Start nothing more and stop what runs; ends still come, and then this is over."""
        if self._stopped:
            return []
        self._stopped = True
        if self._stage == "calling":
            return [AbortCall(self._call_id)]
        return [] if self._round is None else self._round.stop()

    def untold(self) -> list[AgentEffect]:
        """Tell what waited for the journal when this was stopped."""
        late, self._late = self._late, []
        return late if self._round is None else [*late, *self._round.untold()]

    # --- what comes next

    def _do(self, comes_next: Next) -> list[AgentEffect]:
        if self._stopped:
            comes_next = TurnEnded(self._turn, "Interrupted")
        match comes_next:
            case CallModel():
                return self._call_or_shorten(comes_next)
            case Compact():
                return self._shorten(comes_next)
            case RunTools(calls):
                return self._run_tools(calls)
            case TurnEnded():
                self._stage, self.end = "over", comes_next
                return []

    def _run_tools(self, calls: Sequence[ToolUse]) -> list[AgentEffect]:
        # Many a turn calls none, and the first one of a process would wait for the import.
        from runtimes.radian.tool_round import ToolRound

        self._stage = "tools"
        self._rounds += 1
        key = f"{self._key}.{self._rounds}"
        desk, subagents = self._desk.tools, self._subagents
        self._round = ToolRound(self._turn, key, calls, desk, subagents)
        return self._round.begin()

    def _tools_done(self) -> list[AgentEffect]:
        """Call the model with the results, after the news."""
        self._stage, self._next = "writing", self._state.next_call()
        news = [] if self._stopped else self._news()
        return news or self.settled()

    # --- calls of the model

    @property
    def _call_id(self) -> str:
        return f"{self._key}.call{self._call}"

    def _call_or_shorten(self, call: CallModel) -> list[AgentEffect]:
        model, entries = self._desk.model, self._desk.entries
        if not is_due(entries, model.window(entries), call.output_tokens, model.agent):
            return self._start_call(call)
        comes_next = self._state.compact_first(call)
        return self._start_call(call) if comes_next is call else self._do(comes_next)

    def _shorten(self, wanted: Compact) -> list[AgentEffect]:
        """Have a summary made, if there is anything to summarise."""
        from runtimes.radian.compacting import Compacting, not_compacted

        model, entries = self._desk.model, self._desk.entries
        window = model.window(entries)
        plan = plan_of(entries, window, go_on=wanted.then.go_on, agent=model.agent)
        if plan is None:
            return self._do(not_compacted(self._turn, self._state, wanted))
        asked = self._compacting = Compacting(self._turn, self._state, wanted, plan, window)
        self._stage, self._call, self._told = "calling", asked.call, None
        work = model.summary_work(self._turn, asked.call, asked.ask, wanted.then.output_tokens)
        said = Say((events.Compacting(self._turn, asked.call),))
        return [said, StartCall(self._call_id, work)]

    def _start_call(self, call: CallModel) -> list[AgentEffect]:
        self._stage, self._call, self._told = "calling", call.call, None
        work = self._desk.model.work(self._turn, call, self._desk.entries)
        return [StartCall(self._call_id, work)]

    def _said(self, said: Any) -> list[AgentEffect]:
        match said:
            case Told():
                self._told = said
            case Retrying():
                self.retries += 1
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
            parts = self._desk.model.came_so_far()
            failed = Answer(parts, error=CallError(self._desk.mask(lost)))
            told = Told(Answer(parts, finish="cancelled") if self._stopped else failed)
        elif told.answer.finish == "cancelled" and not self._stopped:
            # Its actor was started again: nobody wanted this, and nobody must be told so.
            lost_call = CallError("the call was lost", retryable=True)
            told = replace(told, answer=replace(told.answer, finish="broken", error=lost_call))
        self._desk.model.forget()
        self._stage = "writing"
        if self._compacting is not None:
            came, self._compacting = self._compacting.ended(told), None
            self._next = came.comes_next
            said = [Say(came.events)] if came.events else []
            return [*said, Write(came.records)]
        message, self._next = self._state.answered(told)
        if message.finish == "cancelled" and not message.parts and message.usage is None:
            return []
        return [Write((message,))]
