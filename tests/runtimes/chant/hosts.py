"""A host for one machine, played by the test: events in, effects kept, nothing runs by itself."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from actors.turn import (
    AbortStep,
    ArmTimer,
    CancelAsked,
    DropTimer,
    EndTurn,
    MachineFailed,
    Say,
    StartStep,
    StepEnded,
    TimerFired,
    TurnResult,
    TurnStarted,
)
from actors.work import CallableWork, StepEnd
from ops.model import Retry
from ops.plan import Plan, PlannedPhase, PlannedStep
from ops.run_values import GateAnswered, RecordGate, RunContext
from runtimes.chant.run_tasks import GateLooked, Prepared, Recorded, RunRefused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from actors.turn import CancelReason, TurnEffect, TurnEvent, TurnMachine
    from ops.git import Stopping

RUN_ID = "20261130-101500123-9f3a2c1b"


class StillClock:
    """A clock that a test moves by hand."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return 1_796_033_700.0 + self.now

    def entropy(self, size: int) -> bytes:
        return os.urandom(size)


class Token:
    """A cancel token, as steps and tasks see it."""

    def __init__(self) -> None:
        self.cancelled = False

    def is_set(self) -> bool:
        return self.cancelled

    def wait(self, timeout_s: float) -> bool:
        del timeout_s
        return self.cancelled

    def on_cancel(self, callback: Any) -> None:
        raise NotImplementedError(callback)


@dataclass(slots=True)
class Context:
    """What a callable step gets; keeps what it prints."""

    cancel: Token = field(default_factory=Token)
    printed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def emit(self, stream: str, text: str) -> None:
        self.printed.append((stream, text))

    def monotonic(self) -> float:
        return 0.0


class FakeTasks:
    """`RunTasks` without a disk; knows whether a mark was left behind."""

    def __init__(self, plan: Plan, refusal: RunRefused | None = None) -> None:
        self.plan = plan
        self.refusal = refusal
        self.marked = False
        self.compensating = 0
        self.records: list[Mapping[str, Any]] = []
        self.ledger_error: str | None = None
        self.hurried: list[bool] = []
        """Of each record: whether nobody wanted to wait for it."""
        self.gate = GateAnswered("", "pending", {"op": "release", "env": "prod"})
        """What the ledger says of every gate."""
        self.gate_remarks: tuple[str, ...] = ()

    def prepare(self, stop: Stopping) -> Prepared | RunRefused | None:
        if self.refusal is not None:
            return self.refusal
        if stop.is_set():
            return None
        self.marked = True
        return Prepared(self.plan, RunContext(RUN_ID, origin="acp"), "/project", {"A": "1"})

    def withdraw(self, prepared: Prepared) -> None:
        assert prepared.plan is self.plan
        self.marked = False

    def reach_gate(self, prepared: Prepared, asked: RecordGate, stop: Stopping) -> GateLooked:
        assert prepared.plan is self.plan
        if stop.is_set():
            return GateLooked(GateAnswered(asked.step_id, "unreadable", error="stopped"))
        return GateLooked(replace(self.gate, step_id=asked.step_id), self.gate_remarks)

    def mark_compensation(self, prepared: Prepared) -> None:
        assert prepared.plan is self.plan
        self.compensating += 1

    def record(self, prepared: Prepared, record: Mapping[str, Any], stop: Stopping) -> Recorded:
        assert prepared.plan is self.plan
        self.hurried.append(stop.is_set())
        if self.ledger_error is not None:
            return Recorded(lost=self.ledger_error)
        self.records.append(record)
        self.marked = False
        return Recorded()


class PlayedHost:
    """Feeds a machine and performs its effects by noting them."""

    def __init__(self, machine: TurnMachine) -> None:
        self._machine = machine
        self.effects: list[TurnEffect] = []
        self.running: dict[str, StartStep] = {}
        self.aborted: set[str] = set()
        self.timers: dict[str, float] = {}
        self.started: list[str] = []

    @property
    def said(self) -> list[Any]:
        return [item for each in self.effects if isinstance(each, Say) for item in each.items]

    @property
    def result(self) -> TurnResult | None:
        ends = [each.result for each in self.effects if isinstance(each, EndTurn)]
        assert len(ends) < 2, "a turn ended twice"
        return ends[0] if ends else None

    def start(self) -> PlayedHost:
        self.hear(TurnStarted())
        return self

    def hear(self, event: TurnEvent) -> None:
        ended = self.result is not None
        effects = list(self._machine.handle(event))
        assert not (ended and effects), "something happened after the end"
        for place, effect in enumerate(effects):
            self._note(effect)
            assert not isinstance(effect, EndTurn) or place == len(effects) - 1

    def end(self, step_id: str, kind: str = "exited", code: int | None = 0) -> None:
        """End a running step of an Op; of ours it is `perform` that ends one."""
        del self.running[step_id]
        kind = "cancelled" if step_id in self.aborted else kind
        exit_code = code if kind == "exited" else None
        self.hear(StepEnded(StepEnd(step_id, kind, exit_code, error=None)))  # type: ignore[arg-type]

    def perform(self, step_id: str) -> None:
        """Run one of the machine's own steps for real, and tell it."""
        work = self.running.pop(step_id).work
        assert isinstance(work, CallableWork)
        context, stopped = Context(), step_id in self.aborted
        context.cancel.cancelled = stopped
        value = work.run(context)
        self.hear(StepEnded(StepEnd(step_id, "cancelled" if stopped else "returned", value=value)))

    def cancel(self, reason: CancelReason = "client") -> None:
        self.hear(CancelAsked(reason))

    def fire(self, key: str) -> None:
        del self.timers[key]
        self.hear(TimerFired(key))

    def fail(self) -> None:
        self.hear(MachineFailed())

    def _note(self, effect: TurnEffect) -> None:
        self.effects.append(effect)
        match effect:
            case StartStep(step_id):
                assert step_id not in self.running, "started twice"
                self.running[step_id] = effect
                self.aborted.discard(step_id)
                self.started.append(step_id)
            case AbortStep(step_id):
                self.aborted |= {step_id} & self.running.keys()
            case ArmTimer(key, delay_s):
                self.timers[key] = delay_s
            case DropTimer(key):
                self.timers.pop(key, None)
            case _:
                return


def step(step_id: str, phase: str, *, attempts: int = 1, compensates: bool = False) -> PlannedStep:
    return PlannedStep(
        step_id,
        phase,
        "activity",
        "shell",
        {"cmd": f"echo {step_id}"},
        timeout_s=60.0,
        retry=Retry(attempts=attempts),
        compensates=compensates,
    )


def phase(name: str, steps: Sequence[PlannedStep], *, parallel: bool = False) -> PlannedPhase:
    compensates = any(each.compensates for each in steps)
    return PlannedPhase(name, tuple(steps), parallel, compensates=compensates)


def two_phases() -> Plan:
    """Build (pack, test), Deploy (copy); on failure Rollback (back)."""
    return Plan(
        "release",
        "local",
        (
            phase("Build", [step("pack", "Build"), step("test", "Build")]),
            phase("Deploy", [step("copy", "Deploy")]),
        ),
        (phase("Rollback", [step("back", "Rollback", compensates=True)]),),
    )
