"""The calls of one answer, each told and recorded exactly once.  Pure.

Neighbours that only read run side by side, and so do a few subagents; everything else one after
the other, in the order of the calls, in which results are recorded, too.  What was done is told
once the journal has it, so that nothing that was shown is lost with the process; what was only
read is told as it comes.  A call's own way is in `tool_call`.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from actors.turn import ClientAnswered, ModelSaid, Say, StepEnded
from runtimes.radian.hooked_call import HookedCall
from runtimes.radian.journal_queue import Write
from runtimes.radian.tool_call import ToolCall
from runtimes.radian.tool_results import told

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runtimes.models.base import ToolUse
    from runtimes.radian.journal_queue import AgentEffect
    from runtimes.radian.records import ToolResult
    from runtimes.radian.subagents import Subagents
    from runtimes.radian.tool_desk import ToolDesk

MAX_SUBAGENTS = 4
"""Side by side: each calls its model, and many providers refuse more than a few calls at once."""


class ToolRound:
    """See the module.  What it wants done is returned by each method."""

    def __init__(
        self,
        turn: int,
        key: str,
        calls: Iterable[ToolUse],
        desk: ToolDesk,
        subagents: Subagents | None = None,
    ) -> None:
        """``key`` begins the ids of all steps; unique in the session."""
        self._calls = [
            _call(turn, f"{key}.{at}", use, desk, subagents) for at, use in enumerate(calls, 1)
        ]
        self._recorded = 0
        """How many calls, from the first, have their result in the journal."""
        self._untold: list[ToolResult] = []
        """On their way into the journal."""
        self._stopped = False

    @property
    def done(self) -> bool:
        """Nothing runs, and nothing is left to run; stopped: what there is to tell may wait."""
        if self._stopped:
            return not any(call.is_open for call in self._calls)
        return not self._untold and all(call.state == "over" for call in self._calls)

    @property
    def cancelled_by_person(self) -> bool:
        """A question was answered by cancelling the turn."""
        return any(call.cancelled_by_person for call in self._calls)

    def begin(self) -> list[AgentEffect]:
        """Prepare the first calls."""
        return self._next_batch()

    def hear(self, event: StepEnded | ClientAnswered | ModelSaid) -> list[AgentEffect]:
        """Take what came of a step, of a question or of a subagent's call of the model."""
        key = _key(event)
        for call in self._calls:
            if call.is_open and call.waits_for(key):
                return [*call.hear(event), *self._result_of(call), *self._next_batch()]
        return []

    def settled(self) -> list[AgentEffect]:
        """Tell results, and let subagents go on: all that was to be written is in the journal."""
        effects = [] if self._stopped else self.untold()
        for call in self._calls:
            if call.is_open:
                effects += (*call.settled(), *self._result_of(call))
        return [*effects, *self._next_batch()]

    def stop(self) -> list[AgentEffect]:
        """Start nothing more and stop what runs; its ends still come."""
        self._stopped = True
        open_calls = [call for call in self._calls if call.is_open]
        return [effect for call in open_calls for effect in (*call.stop(), *self._result_of(call))]

    def untold(self) -> list[AgentEffect]:
        """Tell what waits for the journal."""
        results, self._untold = self._untold, []
        return [Say((told(result),)) for result in results]

    def _next_batch(self) -> list[AgentEffect]:
        if self._stopped or self._untold or any(call.is_open for call in self._calls):
            return []
        left = [call for call in self._calls if call.state == "new"]
        reading = list(takewhile(lambda call: call.only_reads, left))
        delegating = list(takewhile(lambda call: call.is_subagent, left))[:MAX_SUBAGENTS]
        batch = reading or delegating or left[:1]
        return [effect for call in batch for effect in call.begin()]

    def _result_of(self, call: ToolCall | HookedCall) -> list[AgentEffect]:
        """Record what may be recorded now that a call has ended, and tell what was only read."""
        if call.result is None:
            return []
        reads = [Say((told(call.result),))] if call.only_reads else []
        return [*self._ordered_writes(), *reads]

    def _ordered_writes(self) -> list[AgentEffect]:
        """Record the results that no earlier call holds up."""
        ready = list(takewhile(self._holds_up_nothing, self._calls[self._recorded :]))
        self._recorded += len(ready)
        self._untold += (each.result for each in ready if each.result and not each.only_reads)
        return [Write((call.result,)) for call in ready if call.result is not None]

    def _holds_up_nothing(self, call: ToolCall | HookedCall) -> bool:
        return call.state == "over" or (call.state == "new" and self._stopped)


def _call(
    turn: int, key: str, use: ToolUse, desk: ToolDesk, subagents: Subagents | None
) -> ToolCall | HookedCall:
    call = ToolCall(turn, key, use, desk, subagents)
    return HookedCall(turn, key, use, desk, call) if desk.hooks.judges_calls else call


def _key(event: StepEnded | ClientAnswered | ModelSaid) -> str:
    match event:
        case StepEnded(end):
            return end.step_id
        case ClientAnswered(key):
            return key
        case ModelSaid(call_id):
            return call_id
