"""What an operator decides: what is due, what is skipped, what runs next, when it ends.  Pure.

One Op at a time.  An Op that comes due while it runs, or while it stands in line already, is
skipped; so is one that waits for people, until they have spoken.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ops.run_id import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.cron import Cron
    from ops.waits import WaitState

LONGEST_NAP_S = 30.0
"""How long it may take to notice that people have spoken, or that somebody set the clock."""

CLOCK_JUMP_S = 120.0
"""A wall clock that went back further than this was set; smaller steps are corrections."""

STOPPED = frozenset({"waiting", "gated"})


# --- what it hears


@dataclass(frozen=True, slots=True)
class Woken:
    """The nap is over."""


@dataclass(frozen=True, slots=True)
class OpJudged:
    """Whether an Op may run; ``failed``: it could not be told."""

    op: str
    state: WaitState | Literal["failed"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunOver:
    """The run that was started is over; ``status`` is ``refused`` when it never began."""

    op: str
    status: str
    run_id: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StopAsked:
    """End: let the run that goes on clean up; ``hard``: not even that."""

    hard: bool = False


# --- what it wants


@dataclass(frozen=True, slots=True)
class JudgeOp:
    """Look whether an Op may run; `OpJudged` answers."""

    op: str


@dataclass(frozen=True, slots=True)
class StartRun:
    """Run an Op; `RunOver` answers."""

    op: str


@dataclass(frozen=True, slots=True)
class CancelRun:
    """Cancel the run that goes on; its `RunOver` still follows."""

    hard: bool


@dataclass(frozen=True, slots=True)
class Nap:
    """`Woken` after ``delay_s`` seconds; replaces an earlier one."""

    delay_s: float


@dataclass(frozen=True, slots=True)
class Tell:
    """A line for the log."""

    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The last effect."""


OperatorInput: TypeAlias = Woken | OpJudged | RunOver | StopAsked
OperatorEffect: TypeAlias = JudgeOp | StartRun | CancelRun | Nap | Tell | Finish


class OperatorState:
    """One operator's life.  Holds a few values for each scheduled Op and nothing that grows."""

    def __init__(self, schedule: Mapping[str, Sequence[Cron]], *, once: bool) -> None:
        """Operate ``schedule`` (Op to its times); ``once``: all of it right away, then end."""
        self._schedule = schedule
        self._once = once
        self._next: dict[str, float] = {}
        self._line: deque[str] = deque()
        """What is to be judged and perhaps run, in order."""
        self._polled: set[str] = set()
        """Of those in line: they are there because they waited, not because they are due."""
        self.waiting: dict[str, str] = {}
        self.last: dict[str, RunOver] = {}
        self.running: str | None = None
        self._judging: str | None = None
        self._begun = False
        self._stopping = False
        self._finished = False
        self._latest_s = 0.0

    def handle(self, event: OperatorInput, now_s: float) -> list[OperatorEffect]:
        """Take one input at ``now_s`` (epoch seconds) and say what must happen, in order."""
        if self._finished:
            return []
        match event:
            case Woken():
                effects = self._woken(now_s)
            case OpJudged():
                effects = self._judged(event)
            case RunOver():
                effects = self._run_over(event)
            case StopAsked(hard):
                effects = self._stop(hard=hard)
        return effects + self._go_on()

    def _woken(self, now_s: float) -> list[OperatorEffect]:
        if self._stopping:
            return []
        told = self._begin(now_s) if not self._begun else self._come_due(now_s)
        for op in self.waiting:
            if op not in self._line and op not in {self.running, self._judging}:
                self._line.append(op)
                self._polled.add(op)
        return told if self._once else [*told, Nap(self._nap_s(now_s))]

    def _begin(self, now_s: float) -> list[OperatorEffect]:
        self._begun, self._latest_s = True, now_s
        if self._once:
            self._line.extend(self._schedule)
        else:
            self._plan_from(now_s)
        ops = ", ".join(self._schedule) or "nothing"
        return [Tell(f"operating {ops}{' once' if self._once else ''}")]

    def _plan_from(self, now_s: float) -> None:
        self._next = {op: _next(crons, now_s) for op, crons in self._schedule.items()}

    def _come_due(self, now_s: float) -> list[OperatorEffect]:
        told: list[OperatorEffect] = []
        if now_s < self._latest_s - CLOCK_JUMP_S:
            told.append(Tell("the clock was set back: the schedule follows it"))
            self._latest_s = now_s
            self._plan_from(now_s)
        self._latest_s = max(self._latest_s, now_s)
        for op, at_s in self._next.items():
            if at_s > now_s:
                continue
            # Those that were missed while we slept, or while the clock stood, are not made up for.
            self._next[op] = _next(self._schedule[op], now_s)
            told += self._enqueue(op, at_s)
        return told

    def _enqueue(self, op: str, at_s: float) -> list[OperatorEffect]:
        if op == self.running:
            return [Tell(f"{op}, due {timestamp(at_s)}, is skipped: it runs still")]
        if op == self._judging or (op in self._line and op not in self._polled):
            return [Tell(f"{op}, due {timestamp(at_s)}, is skipped: it stands in line already")]
        self._polled.discard(op)
        if op not in self._line:
            self._line.append(op)
        return []

    def _nap_s(self, now_s: float) -> float:
        soonest = min(self._next.values(), default=now_s + LONGEST_NAP_S)
        return min(max(soonest - now_s, 0.0), LONGEST_NAP_S)

    def _judged(self, event: OpJudged) -> list[OperatorEffect]:
        op = event.op
        if op != self._judging:
            return []
        self._judging = None
        polled = op in self._polled
        self._polled.discard(op)
        if self._stopping:
            return []
        match event.state:
            case "waits":
                told = event.reason != self.waiting.get(op) or not polled
                self.waiting[op] = event.reason
                return [Tell(f"{op} is skipped: it waits on {event.reason}")] if told else []
            case "busy":
                return [] if polled else [Tell(f"{op} is skipped: {event.reason}")]
            case "failed":
                return [
                    Tell(f"{op} is skipped: it can't be told whether it may run: {event.reason}")
                ]
            case "free" if polled:
                self.waiting.pop(op, None)
                return [Tell(f"{op} waits no more, and runs when it is due")]
            case "free" | "ready":
                self.waiting.pop(op, None)
                self.running = op
                why = f": {event.reason} is settled" if event.state == "ready" else ""
                return [Tell(f"{op} starts{why}"), StartRun(op)]

    def _run_over(self, event: RunOver) -> list[OperatorEffect]:
        if event.op != self.running:
            return []
        self.running = None
        self.last[event.op] = event
        if event.status in STOPPED:
            self.waiting[event.op] = event.reason
        run = f" (run {event.run_id})" if event.run_id else ""
        why = f": {event.reason}" if event.reason else ""
        return [Tell(f"{event.op} ended {event.status}{run}{why}")]

    def _stop(self, *, hard: bool) -> list[OperatorEffect]:
        first, self._stopping = not self._stopping, True
        self._line.clear()
        told: list[OperatorEffect] = [Tell("asked to end")] if first else []
        if self.running is not None and (first or hard):
            told.append(CancelRun(hard))
        return told

    def _go_on(self) -> list[OperatorEffect]:
        if self.running is not None or (self._judging is not None and not self._stopping):
            return []
        if self._line:
            self._judging = self._line.popleft()
            return [JudgeOp(self._judging)]
        if self._stopping or (self._once and self._begun):
            self._finished = True
            return [Finish()]
        return []


def _next(crons: Sequence[Cron], now_s: float) -> float:
    return min(cron.next_after(now_s) for cron in crons)
