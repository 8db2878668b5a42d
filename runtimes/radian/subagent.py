"""One subagent: a conversation within a call of a turn, on the turn's own executor.  Pure.

Its records go to the turn's journal, marked with the id of the call.  Nobody waits for it: the
turn passes on what it hears, and looks whether there is an outcome.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from actors.turn import Say, StartCall, StartStep
from runtimes.models.base import Text
from runtimes.radian.fold import last_text
from runtimes.radian.healing import INTERRUPTED
from runtimes.radian.journal_queue import Write
from runtimes.radian.records import (
    PermissionDecided,
    QuestionAnswered,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.tools.base import ToolOutcome
from runtimes.radian.tools.full_output import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.turn import ClientAnswered, ModelSaid, StepEnded
    from actors.work import Render
    from runtimes.radian.conversation import Conversation
    from runtimes.radian.journal_queue import AgentEffect
    from runtimes.radian.question_line import QuestionLine
    from runtimes.radian.records import Record
    from runtimes.radian.subagent_progress import SubagentProgress

NOTHING_SAID = "(the subagent said nothing)"


class Subagent:
    """See the module.  What it wants done is returned by each method."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        turn: int,
        key: str,
        agent: str,
        progress: SubagentProgress,
        line: QuestionLine,
        monotonic: Callable[[], float],
    ) -> None:
        """``key`` begins all ids of the conversation; ``agent`` is the id of the call."""
        self._turn = turn
        self._key = key
        self._agent = agent
        self._conversation = conversation
        self._progress = progress
        self._line = line
        self._monotonic = monotonic
        self._since_s = monotonic()
        self._records: list[Record] = []
        self.outcome: ToolOutcome | None = None
        """Of the call, once the conversation is over."""

    @property
    def cancelled_by_person(self) -> bool:
        """A question of it was answered by cancelling the turn."""
        return self._conversation.cancelled_by_person

    @property
    def waited_ms(self) -> int:
        """How long it waited for people."""
        asked = (PermissionDecided, QuestionAnswered)
        return sum(each.wait_ms or 0 for each in self._records if isinstance(each, asked))

    def owns(self, key: str) -> bool:
        """Tell whether a step, a question or a call of the model is its own."""
        return key.startswith(f"{self._key}.")

    def begin(self, prompt: str) -> list[AgentEffect]:
        """Write down what it is asked; the rest follows."""
        self._conversation.begin()
        began = TurnStarted(self._turn, "subagent")
        return self._own([Write((began, UserMessage(self._turn, (Text(prompt),))))])

    def hear(self, event: StepEnded | ClientAnswered | ModelSaid) -> list[AgentEffect]:
        """Take an event of its own."""
        effects = self._own(self._conversation.hear(event))
        return [*effects, *self._line.next_one()]

    def settled(self) -> list[AgentEffect]:
        """Go on: all that was to be written is in the journal."""
        effects = self._own(self._conversation.settled())
        end = self._conversation.end
        if effects or end is None or self.outcome is not None:
            return effects
        ended = replace(end, wall_ms=round((self._monotonic() - self._since_s) * 1000))
        self.outcome = outcome_of(ended, last_text(self._records, self._agent))
        return self._own([*self._conversation.untold(), Write((ended,))])

    def stop(self) -> list[AgentEffect]:
        """Stop; the outcome follows once nothing of it runs."""
        return self._own(self._conversation.stop())

    # --- within the turn

    def _own(self, effects: Iterable[AgentEffect]) -> list[AgentEffect]:
        """Mark records, and show as the turn's what may be shown."""
        owned = map(self._owned, effects)
        return [each for each in owned if not isinstance(each, Say) or each.items]

    def _owned(self, effect: AgentEffect) -> AgentEffect:
        match effect:
            case Write(records):
                marked = tuple(map(self._marked, records))
                self._records += marked
                return replace(effect, records=marked)
            case Say(items):
                return Say(self._progress.of_events(items))
            case StartCall(request=request):
                return replace(effect, request=replace(request, render=self._progress.render()))
            case StartStep(render=render):
                return replace(effect, render=_unseen(render))
            case _:
                return effect

    def _marked(self, record: Record) -> Record:
        mine: Any = record
        return cast("Record", replace(mine, agent=self._agent))


def outcome_of(end: TurnEnded, text: str) -> ToolOutcome:
    """Return what a call comes to whose subagent ended like this, and last said ``text``."""
    said = text.strip()
    if end.end == "Completed":
        return ToolOutcome(shorten(said) or NOTHING_SAID)
    words = f"\n\nIts last words:\n\n{shorten(said)}" if said else ""
    match end.end:
        case "Interrupted":
            return ToolOutcome(f"{INTERRUPTED}{words}", failed=True, reason=INTERRUPTED)
        case "Incomplete":
            reason = end.reason or "unfinished"
            why = f" ({end.error})" if end.error else ""
            told = f"the subagent did not finish: {reason}{why}"
        case "Failed":
            reason = end.error or "failed"
            told = f"the subagent failed: {reason}"
    return ToolOutcome(f"{told}{words}", failed=True, reason=reason)


def _unseen(render: Render) -> Render:
    """Let a step's output go to its tool, and show nothing of it."""

    def pass_on(stream: str, text: str) -> tuple[()]:
        render(stream, text)  # type: ignore[arg-type]
        return ()

    return pass_on
