"""A call between its hooks: judged before it is prepared, its result before it is told.  Pure.

    new ─▶ vetting ─▶ calling ─▶ reviewing ─▶ over

The call's own way in the middle is `tool_call`; with what hooks made of its arguments it starts
from the beginning, so that these are checked like the model's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from actors.turn import StepEnded
from runtimes.models.base import Text, ToolUse
from runtimes.models.json_text import encode
from runtimes.radian.hook_run import Invocation
from runtimes.radian.journal_queue import Write
from runtimes.radian.records import UserMessage
from runtimes.radian.tools.base import arguments_of
from runtimes.radian.tools.inputs import InputInvalidError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.turn import ClientAnswered, ModelSaid
    from runtimes.radian.hook_run import HookRun, Verdict
    from runtimes.radian.journal_queue import AgentEffect
    from runtimes.radian.records import ToolResult
    from runtimes.radian.tool_call import ToolCall
    from runtimes.radian.tool_desk import ToolDesk

State: TypeAlias = Literal["new", "vetting", "calling", "reviewing", "over"]
REWRITTEN = "a hook rewrote its input"


class HookedCall:
    """See the module; the face of a `ToolCall`."""

    def __init__(self, turn: int, key: str, use: ToolUse, desk: ToolDesk, call: ToolCall) -> None:
        """``call`` is new and of the same ``use``; ``key`` begins the ids of all steps."""
        self._turn = turn
        self._key = key
        self._use = use
        self._desk = desk
        self._call = call
        self._hooks: HookRun | None = None
        self._stopped = False
        self.state: State = "new"
        self.result: ToolResult | None = None
        """What came of it, once it is over."""

    @property
    def is_open(self) -> bool:
        """It was begun and is not over."""
        return self.state not in {"new", "over"}

    @property
    def only_reads(self) -> bool:
        """It may run beside others like it."""
        return self._call.only_reads

    @property
    def is_subagent(self) -> bool:
        """It gives a task away."""
        return self._call.is_subagent

    @property
    def cancelled_by_person(self) -> bool:
        """A question of it was answered by cancelling the turn."""
        return self._call.cancelled_by_person

    def waits_for(self, key: str) -> bool:
        """Tell whether an event with this key is its own."""
        if self.state == "calling":
            return self._call.waits_for(key)
        return self._hooks is not None and key == self._hooks.step_id

    def begin(self) -> list[AgentEffect]:
        """Ask the hooks; a call that can't be is not theirs to judge."""
        values = self._values()
        if values is None:
            return self._begin_call()
        about = Invocation("before_tool", {**self._about(), "input": values})
        self._hooks = self._desk.hooks.run(f"{self._key}/before", self._turn, about)
        if self._hooks is None:
            return self._begin_call()
        self.state = "vetting"
        return [*self._hooks.begin(), *self._after_hook(self._hooks)]

    def hear(self, event: StepEnded | ClientAnswered | ModelSaid) -> list[AgentEffect]:
        """Take the end of what it waits for."""
        if self.state == "calling":
            return [*self._call.hear(event), *self._after_call()]
        if self._hooks is None or not isinstance(event, StepEnded):
            return []
        return [*self._hooks.ended(event.end), *self._after_hook(self._hooks)]

    def settled(self) -> list[AgentEffect]:
        """Go on with what waits for the journal."""
        if self.state != "calling":
            return []
        return [*self._call.settled(), *self._after_call()]

    def stop(self) -> list[AgentEffect]:
        """Stop what runs, whose end still comes; a question is taken back."""
        self._stopped = True
        if self.state == "calling":
            return [*self._call.stop(), *self._after_call()]
        return [] if self._hooks is None else [*self._hooks.stop()]

    # --- before

    def _values(self) -> Mapping[str, Any] | None:
        """Return the arguments of a call that can be; what is wrong is told by the call itself."""
        tool = self._desk.tools.get(self._use.name)
        try:
            return None if tool is None else arguments_of(tool, self._use.arguments)
        except InputInvalidError:
            return None

    def _about(self) -> dict[str, Any]:
        return {"call_id": self._use.call_id, "tool": self._use.name}

    def _after_hook(self, hooks: HookRun) -> list[AgentEffect]:
        verdict = hooks.verdict
        if verdict is None:
            return []
        return self._vetted(verdict) if self.state == "vetting" else self._reviewed(verdict)

    def _vetted(self, verdict: Verdict) -> list[AgentEffect]:
        """Start the call as the hooks left it, or with their veto."""
        told: tuple[str, ...] = ()
        if verdict.input is not None and verdict.veto is None:
            self._use = replace(self._use, arguments=encode(verdict.input).decode())
            told = _told_rewritten(self._use)
        self._call.take_verdict(self._use, verdict.veto, REWRITTEN if told else "")
        begun = self._call.stop() if self._stopped else self._call.begin()
        self.state = "calling"
        return [*self._told((*told, *verdict.contexts)), *begun, *self._after_call()]

    def _begin_call(self) -> list[AgentEffect]:
        self.state = "calling"
        return self._call.begin()

    # --- after

    def _after_call(self) -> list[AgentEffect]:
        result = self._call.result
        if result is None:
            return []
        self._hooks = self._review(result) if self._call.allowed else None
        if self._hooks is None:
            self.state, self.result = "over", result
            return []
        self.state = "reviewing"
        begun = self._hooks.stop() if self._stopped else self._hooks.begin()
        return [*begun, *self._after_hook(self._hooks)]

    def _review(self, result: ToolResult) -> HookRun | None:
        facts = {"input": self._values() or {}, "status": result.status, "output": result.output}
        if result.reason is not None:
            facts["reason"] = result.reason
        about = Invocation("after_tool", {**self._about(), **facts})
        return self._desk.hooks.run(f"{self._key}/after", self._turn, about)

    def _reviewed(self, verdict: Verdict) -> list[AgentEffect]:
        """Tell the result, or why nobody gets to see it."""
        result, veto = self._call.result, verdict.veto
        assert result is not None  # noqa: S101 - it was reviewed
        if veto is not None:
            words = f"the call ran, but a hook withheld its result: {veto}"
            result = replace(
                result, status="failed", output=words, reason="withheld", full_output_file=None
            )
        self.state, self.result = "over", result
        return self._told(verdict.contexts)

    def _told(self, texts: tuple[str, ...]) -> list[AgentEffect]:
        """Tell the model."""
        if not texts:
            return []
        content = tuple(Text(text) for text in texts)
        return [Write((UserMessage(self._turn, content, source="hook"),))]


def _told_rewritten(use: ToolUse) -> tuple[str, ...]:
    return (f"(A hook rewrote the input of call {use.call_id} to {use.arguments}.)",)
