"""A host for the machine of a run, in memory: performs nothing, keeps everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ops.events import StepSettled
from ops.model import GateStep, Retry
from ops.plan import Plan, PlannedPhase, PlannedStep
from ops.run_state import RunState
from ops.run_values import (
    AbortStep,
    ArmTimer,
    AskPoint,
    DropTimer,
    Emit,
    Moment,
    RecordGate,
    RunContext,
    Settle,
    StartStep,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.events import Event
    from ops.run_values import Effect, RunInput


def step(name: str, *, attempts: int = 1, fn: str = "shell", **more: Any) -> PlannedStep:
    retry = Retry(attempts=attempts, first_wait_s=1.0)
    return PlannedStep(name, "", "activity", fn, timeout_s=60.0, retry=retry, **more)


def gate(name: str) -> PlannedStep:
    return PlannedStep(name, "", "gate", f"gate:{name}", gate=GateStep(name, name))


def point(name: str) -> PlannedStep:
    return PlannedStep(name, "", "point", f"point:{name}", point=name)


def phase(
    name: str,
    *steps: PlannedStep,
    parallel: bool = False,
    fail_fast: bool = False,
    compensates: bool = False,
) -> PlannedPhase:
    from dataclasses import replace

    own = tuple(replace(each, phase=name, compensates=compensates) for each in steps)
    return PlannedPhase(name, own, parallel, fail_fast, compensates)


def clean_up(name: str, *steps: PlannedStep, parallel: bool = False) -> PlannedPhase:
    return phase(name, *steps, parallel=parallel, compensates=True)


def plan(*phases: PlannedPhase, on_failure: Iterable[PlannedPhase] = (), **more: Any) -> Plan:
    return Plan("release", "local", phases, tuple(on_failure), **more)


@dataclass
class Host:
    """Feeds a run and sorts what comes out."""

    plan: Plan
    now_s: float = 1000.0
    effects: list[Effect] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    timers: dict[str, float] = field(default_factory=dict)
    settles: list[Settle] = field(default_factory=list)

    def __post_init__(self) -> None:
        context = RunContext("20261130-101500123-aa", steward=None, host="box")
        self.run = RunState(self.plan, context)

    def tell(self, event: RunInput, *, after_s: float = 0.0) -> list[Effect]:
        self.now_s += after_s
        came = self.run.handle(event, Moment(self.now_s, self.now_s))
        for effect in came:
            self._perform(effect)
        self.effects += came
        return came

    def _perform(self, effect: Effect) -> None:
        match effect:
            case StartStep(step_id):
                assert step_id not in self.running
                self.running.append(step_id)
            case RecordGate(step_id):
                self.asked.append((step_id, "gate"))
            case AskPoint(step_id):
                self.asked.append((step_id, "point"))
            case ArmTimer(key, delay_s):
                self.timers[key] = delay_s
            case DropTimer(key):
                self.timers.pop(key, None)
            case Settle():
                self.settles.append(effect)
            case AbortStep(step_id):
                assert step_id in self.running
            case _:
                pass

    @property
    def events(self) -> list[Event]:
        return [effect.event for effect in self.effects if isinstance(effect, Emit)]

    @property
    def started(self) -> list[str]:
        return [effect.step_id for effect in self.effects if isinstance(effect, StartStep)]

    @property
    def statuses(self) -> dict[str, str]:
        settled = [event for event in self.events if isinstance(event, StepSettled)]
        return {event.step_id: event.status for event in settled}

    @property
    def record(self) -> dict[str, Any]:
        (settle,) = self.settles
        return dict(settle.record)
