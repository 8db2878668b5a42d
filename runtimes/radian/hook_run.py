"""The hooks of an event, one after the other, as steps of a turn.  Pure.

A project's hooks come before a person's own: what a person set up sees, and judges, what the
others made of it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from actors.turn import AbortStep, Say, StartStep
from actors.work import ProcessWork, StepEnd
from protocol.values import frozen, slotted
from runtimes.models.json_text import encode
from runtimes.radian import events
from runtimes.radian.hook_answers import Allowed, Denied, Failed, read_answer
from runtimes.radian.live_output import nothing_shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from actors.turn import TurnEffect
    from runtimes.radian.hook_config import Hook, HookEvent

SCHEMA = 1
"""Of what a hook is given."""
MAX_INVOCATION_BYTES = 8 * 1024 * 1024


@frozen
class Invocation:
    """One event, for each of its hooks; ``facts`` are what it is about."""

    event: HookEvent
    facts: Mapping[str, Any]


@frozen
class Verdict:
    """What the hooks came to."""

    denied: str | None = None
    """Why one of them forbids it."""
    failed: str | None = None
    """Which required one gave no answer, and why: a denial of its own kind."""
    by_required: bool = False
    """The one that denied is required."""
    input: Mapping[str, Any] | None = None
    """What they made of a call's arguments."""
    contexts: tuple[str, ...] = ()
    """What the model is to know."""

    @property
    def veto(self) -> str | None:
        """Return why it may not happen."""
        return self.denied if self.failed is None else self.failed


@slotted
class HookDesk:
    """The hooks of a session, and what they are given."""

    hooks: Sequence[Hook] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of each invocation: session, workspace."""
    cwd: str = "/"
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Without secrets."""
    mask: Any = str
    """Takes known secrets out of a text."""
    began: bool = False
    """`session_start` has passed."""

    @property
    def judges_calls(self) -> bool:
        """Some hook is about calls of tools."""
        return any(hook.event in {"before_tool", "after_tool"} for hook in self.hooks)

    @property
    def judges_stops(self) -> bool:
        """Some hook is about turns that are about to be completed."""
        return any(hook.event == "before_stop" for hook in self.hooks)

    def run(
        self,
        key: str,
        turn: int | None,
        *invocations: Invocation,
        limit_s: float | None = None,
    ) -> HookRun | None:
        """Return a run of all hooks for these events; None where there is nothing to run.

        ``key`` begins the ids of its steps; unique in the session.  ``limit_s``: what each gets
        at most.
        """
        jobs = [
            (hook, each) for each in invocations for hook in self.hooks if hook.event == each.event
        ]
        return HookRun(key, turn, jobs, self, limit_s) if jobs else None


class HookRun:
    """See the module.  `verdict` is there when all is over."""

    def __init__(
        self,
        key: str,
        turn: int | None,
        jobs: Sequence[tuple[Hook, Invocation]],
        desk: HookDesk,
        limit_s: float | None,
    ) -> None:
        """``jobs``: which hooks, with what they are told; at least one."""
        self._key = key
        self._turn = turn
        self._jobs = jobs
        self._desk = desk
        self._limit_s = limit_s
        self._at = 0
        self._running = False
        self._input: Mapping[str, Any] | None = None
        self._contexts: list[str] = []
        self._stopped = False
        self.verdict: Verdict | None = None

    @property
    def step_id(self) -> str:
        """The id of the step that it waits for."""
        return f"{self._key}-{self._at + 1}"

    def begin(self) -> list[TurnEffect]:
        """Start the first."""
        return self._start()

    def ended(self, end: StepEnd) -> list[TurnEffect]:
        """Take the end of the step; start the next or come to a verdict."""
        self._running = False
        hook, invocation = self._jobs[self._at]
        answer = read_answer(invocation.event, end)
        if self._stopped and isinstance(answer, Failed):
            return self._left_out()
        match answer:
            case Failed(why):
                return self._failed(hook, why)
            case Denied(reason, message):
                denied = self._desk.mask(f"{reason} ({hook.name})")
                self.verdict = Verdict(denied, by_required=hook.required)
                return self._said(hook, message)
            case Allowed(given, context, message):
                self._input = self._input if given is None else given
                if context:
                    self._contexts.append(self._desk.mask(context))
                return [*self._said(hook, message), *self._next()]

    def stop(self) -> list[TurnEffect]:
        """Start nothing more and stop what runs, whose end still comes."""
        self._stopped = True
        if self._running:
            return [AbortStep(self.step_id)]
        return self._left_out() if self.verdict is None else []

    def _next(self) -> list[TurnEffect]:
        self._at += 1
        if self._at == len(self._jobs):
            self.verdict = Verdict(input=self._input, contexts=tuple(self._contexts))
            return []
        return self._left_out() if self._stopped else self._start()

    def _left_out(self) -> list[TurnEffect]:
        """End without those that are left; one that is required has then not agreed."""
        required = [hook for hook, _ in self._jobs[self._at :] if hook.required]
        failed = (
            f"the required hook {required[0].name} did not come to an end" if required else None
        )
        self.verdict = Verdict(failed=failed, input=self._input, contexts=tuple(self._contexts))
        return []

    def _start(self) -> list[TurnEffect]:
        hook, invocation = self._jobs[self._at]
        desk = self._desk
        given = {"schema": SCHEMA, "event": invocation.event, **desk.facts}
        if self._turn is not None:
            given["turn"] = self._turn
        given.update(invocation.facts)
        if self._input is not None:
            given["input"] = self._input
        stdin = encode(given)
        if len(stdin) > MAX_INVOCATION_BYTES:
            return self._failed(hook, f"it would be given more than {MAX_INVOCATION_BYTES} bytes")
        self._running = True
        work = ProcessWork(hook.command, desk.cwd, desk.env, stdin=stdin)
        timeout_s = min(hook.timeout_s, self._limit_s or hook.timeout_s)
        return [StartStep(self.step_id, work, nothing_shown, timeout_s)]

    def _failed(self, hook: Hook, why: str) -> list[TurnEffect]:
        if hook.required:
            words = f"the required hook {hook.name} failed: {why}"
            self.verdict = Verdict(failed=self._desk.mask(words))
            return []
        words = f"the {hook.event} hook {hook.name} failed and is passed over: {why}"
        return [Say((events.Warning(self._desk.mask(words)),)), *self._next()]

    def _said(self, hook: Hook, message: str) -> list[TurnEffect]:
        if not message.strip():
            return []
        return [Say((events.Warning(self._desk.mask(f"{hook.name}: {message.strip()}")),))]
