"""One call on its way: prepared, decided, perhaps asked about, run.  Pure.

    new ─▶ preparing ─▶ asking ─▶ running ─▶ over

Asking is left out where the policy decides, and any state may go to ``over`` directly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from actors.turn import AbortStep, ModelSaid, Say, StartStep, StepEnded
from runtimes.radian import events
from runtimes.radian.asker import NotAnswered, PermissionQuestion
from runtimes.radian.healing import INTERRUPTED
from runtimes.radian.journal_queue import Write
from runtimes.radian.live_output import LiveOutput, nothing_shown
from runtimes.radian.records import PermissionDecided
from runtimes.radian.rulings import Ruling, rule, rule_by_reply
from runtimes.radian.tool_results import interrupted, recorded
from runtimes.radian.tools.ask_user import NAME as ASK_USER
from runtimes.radian.tools.base import Prepared, ToolOutcome, ended_badly, failure, prepare_work
from runtimes.radian.tools.subagent import NAME as SUBAGENT
from runtimes.radian.user_questions import Questioning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.turn import ClientAnswered
    from actors.work import StepEnd
    from runtimes.models.base import ToolUse
    from runtimes.radian.asker import Asker, Question, Reply
    from runtimes.radian.journal_queue import AgentEffect
    from runtimes.radian.permissions import Ask, GrantKey
    from runtimes.radian.records import ToolResult
    from runtimes.radian.subagent import Subagent
    from runtimes.radian.subagents import Subagents
    from runtimes.radian.tool_desk import ToolDesk
    from runtimes.radian.tools.base import ToolRun

State: TypeAlias = Literal["new", "preparing", "asking", "running", "over"]


class ToolCall:
    """See the module.  What it wants done is returned by each method."""

    def __init__(
        self,
        turn: int,
        key: str,
        use: ToolUse,
        desk: ToolDesk,
        subagents: Subagents | None = None,
    ) -> None:
        """``key`` begins the ids of its steps and questions; unique in the session."""
        self._turn = turn
        self._key = key
        self._use = use
        self._desk = desk
        self._subagents = subagents
        self._subagent: Subagent | None = None
        self._prepared: Prepared | None = None
        self._run: ToolRun | None = None
        self._grant: GrantKey | None = None
        self._questioning: Questioning | None = None
        self._asked = 0
        """Questions put so far, of all kinds."""
        self._since_s = 0.0
        self._stopped = False
        self.state: State = "new"
        self._veto: str | None = None
        self._note = ""
        self.allowed = False
        """It was decided that it may run."""
        self.result: ToolResult | None = None
        """What came of it, once it is over."""
        self.cancelled_by_person = False
        """A question of it was answered by cancelling the turn."""

    @property
    def is_open(self) -> bool:
        """It was begun and is not over."""
        return self.state not in {"new", "over"}

    @property
    def only_reads(self) -> bool:
        """It may run beside others like it."""
        tool = self._desk.tools.get(self._use.name)
        return tool is not None and tool.read_only

    @property
    def is_subagent(self) -> bool:
        """It gives a task away."""
        return self._subagents is not None and self._use.name == SUBAGENT

    @property
    def step_id(self) -> str:
        """The id of the step or question that it waits for."""
        match self.state:
            case "preparing":
                return f"{self._key}/prepare"
            case "asking":
                return f"{self._key}/ask-{self._asked}"
            case _:
                return f"{self._key}/run"

    def waits_for(self, key: str) -> bool:
        """Tell whether an event with this key is its own."""
        return self._subagent.owns(key) if self._subagent is not None else key == self.step_id

    def take_verdict(self, use: ToolUse, veto: str | None, note: str) -> None:
        """Take what hooks made of it, before it begins.

        ``veto``: why one of them forbids it.  ``note`` is shown with a question about it.
        """
        self._use, self._veto, self._note = use, veto, note

    def begin(self) -> list[AgentEffect]:
        """Look at what it is about."""
        self.state = "preparing"
        use, desk = self._use, self._desk
        work = prepare_work(desk.tools, use.name, use.arguments, desk.context)
        return [StartStep(self.step_id, work, nothing_shown)]

    def hear(self, event: StepEnded | ClientAnswered | ModelSaid) -> list[AgentEffect]:
        """Take the end of what it waits for."""
        if self._subagent is not None:
            return self._delegated(self._subagent, self._subagent.hear(event))
        if self.state == "asking" and not isinstance(event, ModelSaid):
            return self._answered(event)
        if not isinstance(event, StepEnded):
            return []
        if self.state == "preparing":
            return self._is_prepared(event.end)
        return self._ran(event.end)

    def settled(self) -> list[AgentEffect]:
        """Let a subagent go on: all that was to be written is in the journal."""
        if self._subagent is None:
            return []
        return self._delegated(self._subagent, self._subagent.settled())

    def stop(self) -> list[AgentEffect]:
        """Stop what runs, whose end still comes; a question is taken back."""
        self._stopped = True
        if self.state == "new":
            self._over(interrupted())
            return [Say((self._shown(None),))]
        if self._subagent is not None:
            return self._delegated(self._subagent, self._subagent.stop())
        asker = self._desk.policy.asker
        if self.state == "asking" and asker is not None:
            withdrawn = asker.withdraw(self.step_id)
            self._over(interrupted())
            return [*withdrawn]
        return [AbortStep(self.step_id)] if self.is_open else []

    # --- what it is about

    def _is_prepared(self, end: StepEnd) -> list[AgentEffect]:
        found = end.value
        if isinstance(found, Prepared) and not self._stopped:
            self._prepared = found
            return [Say((self._shown(found),)), *self._decide(found)]
        outcome = found if isinstance(found, ToolOutcome) else failure(ended_badly(end))
        self._over(interrupted() if self._stopped else outcome)
        return [Say((self._shown(None),))]

    def _shown(self, prepared: Prepared | None) -> events.ToolCall:
        use = self._use
        tool = self._desk.tools.get(use.name)
        kind = "other" if tool is None else tool.kind
        if prepared is None:
            given = {"arguments": use.arguments}
            return events.ToolCall(self._turn, use.call_id, use.name, use.name, kind, given)
        view, values = prepared.view, dict(prepared.input)
        more = (view.locations, view.diff)
        return events.ToolCall(self._turn, use.call_id, use.name, view.title, kind, values, *more)

    # --- whether it may run

    def _decide(self, prepared: Prepared) -> list[AgentEffect]:
        ruling = rule(prepared, self._desk.policy, self._veto)
        asker = self._desk.policy.asker
        if isinstance(ruling, Ruling):
            return self._ruled(ruling)
        assert asker is not None  # noqa: S101 - nobody to ask is a ruling
        return self._ask_whether(prepared, ruling, asker)

    def _ask_whether(self, prepared: Prepared, ask: Ask, asker: Asker) -> list[AgentEffect]:
        self._grant = ask.grant
        key, call_id = self._next_key(), self._use.call_id
        reason = "; ".join(filter(None, (ask.reason, self._note)))
        return self._ask(PermissionQuestion(key, call_id, prepared, reason, ask.options), asker)

    def _ruled(self, ruling: Ruling, wait_ms: int | None = None) -> list[AgentEffect]:
        turn, call_id = self._turn, self._use.call_id
        decision, source, reason = ruling.decision, ruling.source, ruling.reason
        record = PermissionDecided(turn, call_id, decision, source, wait_ms, reason)
        said = events.Permission(turn, call_id, decision, source, reason)
        told: list[AgentEffect] = [Write((record,)), Say((said,))]
        if decision != "deny":
            self.allowed = True
            return [*told, *self._start()]
        self._over(failure(f"not allowed: {reason}", "denied"))
        return told

    # --- questions

    def _next_key(self) -> str:
        self.state = "asking"
        self._asked += 1
        return self.step_id

    def _ask(self, question: Question, asker: Asker) -> list[AgentEffect]:
        self._since_s = self._desk.monotonic()
        return [*asker.ask(question)]

    def _answered(self, event: StepEnded | ClientAnswered) -> list[AgentEffect]:
        policy = self._desk.policy
        nobody = NotAnswered("nobody asked")
        reply = nobody if policy.asker is None else policy.asker.reply(event)
        if isinstance(reply, NotAnswered):
            self.cancelled_by_person = reply.cancels
        waited_ms = self._since_ms()
        if self._questioning is not None:
            return self._question_answered(self._questioning, reply, waited_ms)
        return self._ruled(rule_by_reply(reply, self._grant, policy), waited_ms)

    def _next_question(self, questioning: Questioning, asker: Asker) -> list[AgentEffect]:
        question = questioning.next_question(self._next_key(), asker)
        if not isinstance(question, ToolOutcome):
            return self._ask(question, asker)
        self._over(question)
        return []

    def _question_answered(
        self, questioning: Questioning, reply: Reply, waited_ms: int
    ) -> list[AgentEffect]:
        record, outcome = questioning.take(reply, waited_ms)
        asker = self._desk.policy.asker
        if outcome is None and asker is not None:
            return [Write((record,)), *self._next_question(questioning, asker)]
        self._over(outcome or failure("nobody is there"))
        return [Write((record,))]

    # --- running

    def _start(self) -> list[AgentEffect]:
        prepared, asker = self._prepared, self._desk.policy.asker
        assert prepared is not None  # noqa: S101 - only what was prepared is decided
        if prepared.tool == ASK_USER and asker is not None:
            questions: Sequence[Any] = prepared.input["questions"]
            self._questioning = Questioning(self._turn, self._use.call_id, questions)
            return self._next_question(self._questioning, asker)
        if prepared.tool == SUBAGENT and self._subagents is not None:
            return self._delegate(prepared, self._subagents)
        return self._start_run(prepared)

    def _delegate(self, prepared: Prepared, subagents: Subagents) -> list[AgentEffect]:
        self.state, self._since_s = "running", self._desk.monotonic()
        self._subagent = subagents.make(self._key, self._use.call_id, prepared)
        return self._subagent.begin(prepared.input["prompt"])

    def _delegated(self, subagent: Subagent, effects: list[AgentEffect]) -> list[AgentEffect]:
        """Look what has become of the task."""
        self.cancelled_by_person = subagent.cancelled_by_person
        if subagent.outcome is not None:
            self._over(subagent.outcome, max(0, self._since_ms() - subagent.waited_ms))
        return effects

    def _start_run(self, prepared: Prepared) -> list[AgentEffect]:
        desk, call_id = self._desk, self._use.call_id
        tool = desk.tools[prepared.tool]
        self._run = run = tool.start(prepared, call_id, desk.context)
        self.state, self._since_s = "running", desk.monotonic()
        heard = LiveOutput(self._turn, call_id, run, desk.mask, shows=tool.kind == "execute")
        return [StartStep(self.step_id, run.work, heard.render, run.timeout_s)]

    def _ran(self, end: StepEnd) -> list[AgentEffect]:
        assert self._run is not None  # noqa: S101 - its step has just ended
        outcome = self._run.finish(end)
        if self._stopped and end.kind == "cancelled":
            outcome = replace(outcome, failed=True, reason=INTERRUPTED)
        self._over(outcome, self._since_ms())
        return []

    def _over(self, outcome: ToolOutcome, took_ms: int | None = None) -> None:
        self.state = "over"
        turn, call_id, mask = self._turn, self._use.call_id, self._desk.mask
        self.result = recorded(turn, call_id, outcome, took_ms, mask)

    def _since_ms(self) -> int:
        return round((self._desk.monotonic() - self._since_s) * 1000)
