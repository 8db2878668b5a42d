"""The calls of one answer: prepared, decided, run, and told, each exactly once.  Pure.

Neighbours that only read run side by side, everything else one after the other, in the order of
the calls.  Results are told as they come, and recorded in the order of the calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from actors.turn import AbortStep, ClientAnswered, Say, StartStep, StepEnded
from runtimes.radian import events
from runtimes.radian.asker import Chosen, NotAnswered, PermissionQuestion
from runtimes.radian.healing import INTERRUPTED
from runtimes.radian.permissions import Allow, Ask, Deny
from runtimes.radian.policy import NOBODY
from runtimes.radian.records import PermissionDecided, ToolResult
from runtimes.radian.tools.ask_user import NAME as ASK_USER
from runtimes.radian.tools.base import Prepared, ToolOutcome, ended_badly, failure, prepare_work
from runtimes.radian.user_questions import Questioning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from actors.turn import TurnEffect
    from actors.work import StepEnd, Stream
    from runtimes.models.base import ToolUse
    from runtimes.radian.asker import Asker, Reply
    from runtimes.radian.permissions import GrantKey
    from runtimes.radian.policy import Policy
    from runtimes.radian.records import DecidedBy, Decision, Record
    from runtimes.radian.tools.base import Tool, ToolContext, ToolRun

LIVE_CHARS = 256 * 1024
"""Of a command's output that is shown while it runs."""

DECIDED_BY: Mapping[str, DecidedBy] = {
    "hook": "hook",
    "rule": "rule",
    "grant": "grant",
    "profile": "profile",
    "person": "user",
    "yes": "yes",
    "nobody": "nobody",
}


@dataclass(frozen=True, slots=True)
class Write:
    """Put records into the journal, in this place of the order."""

    records: tuple[Record, ...]
    sync: bool = False


RoundEffect: TypeAlias = "TurnEffect | Write"
State: TypeAlias = Literal["new", "preparing", "asking", "running", "over"]


@dataclass(slots=True)
class _Call:
    """One call on its way."""

    use: ToolUse
    key: str
    """Begins the ids of its steps and of its question."""
    state: State = "new"
    prepared: Prepared | None = None
    run: ToolRun | None = None
    grant: GrantKey | None = None
    questioning: Questioning | None = None
    asked: int = 0
    """Questions put so far, of all kinds."""
    since_s: float = 0.0
    result: ToolResult | None = None
    """Until it is recorded."""

    @property
    def is_open(self) -> bool:
        return self.state in {"preparing", "asking", "running"}


@dataclass(slots=True)
class ToolDesk:
    """What a session gives its rounds."""

    tools: Mapping[str, Tool]
    context: ToolContext
    policy: Policy
    monotonic: Callable[[], float]
    mask: Callable[[str], str]
    """Takes known secrets out of a text."""


class ToolRound:
    """See the module.  What it wants done is returned by each method."""

    def __init__(self, turn: int, key: str, calls: Iterable[ToolUse], desk: ToolDesk) -> None:
        """``key`` begins the ids of all steps; unique in the session."""
        self._turn = turn
        self._desk = desk
        self._calls = [_Call(use, f"{key}.{at}") for at, use in enumerate(calls, 1)]
        self._stopped = False
        self.cancelled_by_person = False
        """A question was answered by cancelling the turn."""

    @property
    def done(self) -> bool:
        """Nothing runs, and nothing is left to run."""
        if self._stopped:
            return not any(call.is_open for call in self._calls)
        return all(call.state == "over" for call in self._calls)

    def begin(self) -> list[RoundEffect]:
        """Prepare the first calls."""
        return self._next_batch()

    def hear(self, event: StepEnded | ClientAnswered) -> list[RoundEffect]:
        """Take the end of a step or of a question."""
        key = event.end.step_id if isinstance(event, StepEnded) else event.key
        for call in self._calls:
            if call.is_open and key == _step_id(call):
                return [*self._hear(call, event), *self._next_batch()]
        return []

    def stop(self) -> list[RoundEffect]:
        """Start nothing more and stop what runs; its ends still come."""
        self._stopped = True
        effects: list[RoundEffect] = []
        asker = self._desk.policy.asker
        for call in self._calls:
            if call.state in {"preparing", "running"}:
                effects.append(AbortStep(_step_id(call)))
            elif call.state == "asking" and asker is not None:
                effects += asker.withdraw(_step_id(call))
                effects += self._over(call, _interrupted())
        return effects

    def _next_batch(self) -> list[RoundEffect]:
        if self._stopped or any(call.is_open for call in self._calls):
            return []
        left = [call for call in self._calls if call.state == "new"]
        batch = list(takewhile(self._only_reads, left)) or left[:1]
        return [effect for call in batch for effect in self._prepare(call)]

    def _only_reads(self, call: _Call) -> bool:
        tool = self._desk.tools.get(call.use.name)
        return tool is not None and tool.read_only

    def _prepare(self, call: _Call) -> list[RoundEffect]:
        call.state = "preparing"
        desk, use = self._desk, call.use
        work = prepare_work(desk.tools, use.name, use.arguments, desk.context)
        return [StartStep(_step_id(call), work, _nothing)]

    def _hear(self, call: _Call, event: StepEnded | ClientAnswered) -> list[RoundEffect]:
        if call.state == "asking":
            return self._answered(call, event)
        if not isinstance(event, StepEnded):
            return []
        if call.state == "preparing":
            return self._is_prepared(call, event.end)
        return self._ran(call, event.end)

    def _is_prepared(self, call: _Call, end: StepEnd) -> list[RoundEffect]:
        found = end.value
        if isinstance(found, Prepared) and not self._stopped:
            call.prepared = found
            return [Say((self._shown(call, found),)), *self._decide(call, found)]
        outcome = found if isinstance(found, ToolOutcome) else failure(ended_badly(end))
        if self._stopped:
            outcome = _interrupted()
        return [Say((self._shown(call, None),)), *self._over(call, outcome)]

    def _shown(self, call: _Call, prepared: Prepared | None) -> events.ToolCall:
        use = call.use
        tool = self._desk.tools.get(use.name)
        kind = "other" if tool is None else tool.kind
        if prepared is None:
            given = {"arguments": use.arguments}
            return events.ToolCall(self._turn, use.call_id, use.name, use.name, kind, given)
        view = prepared.view
        return events.ToolCall(
            self._turn,
            use.call_id,
            use.name,
            view.title,
            kind,
            dict(prepared.input),
            view.locations,
            view.diff,
        )

    # --- permission

    def _decide(self, call: _Call, prepared: Prepared) -> list[RoundEffect]:
        decision = self._desk.policy.decide(prepared.request)
        match decision:
            case Allow(source):
                return self._allowed(call, "allow_once", DECIDED_BY[source])
            case Deny(source, reason):
                return self._denied(call, DECIDED_BY[source], reason)
            case Ask():
                return self._ask(call, prepared, decision)

    def _ask(self, call: _Call, prepared: Prepared, ask: Ask) -> list[RoundEffect]:
        policy = self._desk.policy
        if policy.yes:
            return self._allowed(call, "allow_once", "yes")
        if policy.asker is None:
            reason = f"{prepared.tool} needs a person's consent: {NOBODY}"
            return self._denied(
                call, "nobody", f"{reason} ({ask.reason})" if ask.reason else reason
            )
        call.grant = ask.grant
        key = self._begin_asking(call)
        question = PermissionQuestion(key, call.use.call_id, prepared, ask.reason, ask.options)
        return [*policy.asker.ask(question)]

    def _begin_asking(self, call: _Call) -> str:
        call.state, call.since_s = "asking", self._desk.monotonic()
        call.asked += 1
        return _step_id(call)

    def _answered(self, call: _Call, event: StepEnded | ClientAnswered) -> list[RoundEffect]:
        asker = self._desk.policy.asker
        reply = NotAnswered("nobody asked") if asker is None else asker.reply(event)
        waited = self._since(call)
        if isinstance(reply, NotAnswered):
            self.cancelled_by_person = reply.cancels
        if call.questioning is not None:
            return self._question_answered(call, call.questioning, reply, waited)
        if isinstance(reply, NotAnswered):
            return self._denied(call, "user", reply.reason, waited)
        chosen = reply.option_id if isinstance(reply, Chosen) else ""
        if chosen == "allow_always" and call.grant is not None:
            self._desk.policy.grants.add(call.grant)
            return self._allowed(call, "allow_always", "user", waited)
        if chosen == "allow_once":
            return self._allowed(call, "allow_once", "user", waited)
        return self._denied(call, "user", "the user rejected it", waited)

    def _allowed(
        self, call: _Call, decision: Decision, source: DecidedBy, wait_ms: int | None = None
    ) -> list[RoundEffect]:
        return [*self._decided(call, decision, source, wait_ms, None), *self._start(call)]

    def _denied(
        self, call: _Call, source: DecidedBy, reason: str, wait_ms: int | None = None
    ) -> list[RoundEffect]:
        outcome = failure(f"not allowed: {reason}", "denied")
        decided = self._decided(call, "deny", source, wait_ms, reason)
        return [*decided, *self._over(call, outcome)]

    def _decided(
        self,
        call: _Call,
        decision: Decision,
        source: DecidedBy,
        wait_ms: int | None,
        reason: str | None,
    ) -> list[RoundEffect]:
        call_id = call.use.call_id
        record = PermissionDecided(self._turn, call_id, decision, source, wait_ms, reason)
        said = events.Permission(self._turn, call_id, decision, source, reason)
        return [Write((record,)), Say((said,))]

    # --- running

    def _start(self, call: _Call) -> list[RoundEffect]:
        prepared = call.prepared
        assert prepared is not None  # noqa: S101 - only what was prepared is decided
        if prepared.tool == ASK_USER and self._desk.policy.asker is not None:
            questions = prepared.input["questions"]
            call.questioning = Questioning(self._turn, call.use.call_id, questions)
            return self._next_question(call, call.questioning, self._desk.policy.asker)
        tool = self._desk.tools[prepared.tool]
        call.run = run = tool.start(prepared, call.use.call_id, self._desk.context)
        call.state, call.since_s = "running", self._desk.monotonic()
        heard = _Heard(
            self._turn, call.use.call_id, run, self._desk.mask, shows=tool.kind == "execute"
        )
        return [StartStep(_step_id(call), run.work, heard.render, run.timeout_s)]

    def _next_question(
        self, call: _Call, questioning: Questioning, asker: Asker
    ) -> list[RoundEffect]:
        question = questioning.next_question(self._begin_asking(call), asker)
        if isinstance(question, ToolOutcome):
            return self._over(call, question)
        return [*asker.ask(question)]

    def _question_answered(
        self, call: _Call, questioning: Questioning, reply: Reply, waited: int
    ) -> list[RoundEffect]:
        record, outcome = questioning.take(reply, waited)
        written = Write((record,))
        asker = self._desk.policy.asker
        if outcome is not None or asker is None:
            return [written, *self._over(call, outcome or failure("nobody is there"))]
        return [written, *self._next_question(call, questioning, asker)]

    def _ran(self, call: _Call, end: StepEnd) -> list[RoundEffect]:
        assert call.run is not None  # noqa: S101 - its step has just ended
        outcome = call.run.finish(end)
        if self._stopped and end.kind == "cancelled":
            outcome = replace(outcome, failed=True, reason=INTERRUPTED)
        return self._over(call, outcome, self._since(call))

    def _over(
        self, call: _Call, outcome: ToolOutcome, took_ms: int | None = None
    ) -> list[RoundEffect]:
        call.state = "over"
        output = self._desk.mask(outcome.output)
        status: Literal["completed", "failed"] = "failed" if outcome.failed else "completed"
        call_id = call.use.call_id
        call.result = ToolResult(
            self._turn,
            call_id,
            status,
            output,
            outcome.reason,
            took_ms,
            _file_name(outcome),
        )
        said = events.ToolResult(self._turn, call_id, status, output, outcome.reason)
        return [*self._ordered_writes(), Say((said,))]

    def _ordered_writes(self) -> list[RoundEffect]:
        """Record the results that no earlier call holds up."""
        writes: list[RoundEffect] = []
        for call in self._calls:
            if call.is_open or (call.state == "new" and not self._stopped):
                break
            if call.result is not None:
                writes.append(Write((call.result,)))
                call.result = None
        return writes

    def _since(self, call: _Call) -> int:
        return round((self._desk.monotonic() - call.since_s) * 1000)


@dataclass(slots=True)
class _Heard:
    """Passes a step's output on: to the tool, and within bounds to whoever watches."""

    turn: int
    call_id: str
    run: ToolRun
    mask: Callable[[str], str]
    shows: bool
    left: int = field(default=LIVE_CHARS)

    def render(self, stream: Stream, text: str) -> Sequence[Any]:
        if self.run.hear is not None:
            self.run.hear(stream, text)
        if not self.shows or not self.left:
            return ()
        shown, self.left = text[: self.left], max(0, self.left - len(text))
        return (events.ToolOutput(self.turn, self.call_id, self.mask(shown)),)


def _step_id(call: _Call) -> str:
    match call.state:
        case "preparing":
            return f"{call.key}/prepare"
        case "asking":
            return f"{call.key}/ask-{call.asked}"
        case _:
            return f"{call.key}/run"


def _file_name(outcome: ToolOutcome) -> str | None:
    """Return what the journal calls a full output: it lies in the session's own folder."""
    path = outcome.full_output_file
    return None if path is None else path.rpartition("/")[2]


def _interrupted() -> ToolOutcome:
    return ToolOutcome(INTERRUPTED, failed=True, reason=INTERRUPTED)


def _nothing(stream: Stream, text: str) -> tuple[Any, ...]:
    del stream, text
    return ()
