"""The machine of a run: phases in order, then clean-up, then one end.  Pure.

Whoever hosts it (an actor, a workflow, a test) performs the effects in order and reports back.
It decides alone what starts, what is left out, and when the run is over.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ops.events import CompensationStarted, RunSettled, RunStarted
from ops.phase_run import Desk, PhaseRun
from ops.record import run_record
from ops.run_values import (
    ArmTimer,
    CancelAsked,
    DropTimer,
    Emit,
    GateAnswered,
    HostLost,
    MarkCompensation,
    PointAnswered,
    RunBegun,
    Settle,
    StepFinished,
    Tick,
)
from ops.step_env import Failure, failure_variables, run_variables
from ops.step_run import Narrator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.events import Compensation, RunStatus, StepStatus
    from ops.plan import Plan
    from ops.run_values import Effect, Moment, RunContext, RunInput

Stage: TypeAlias = Literal["new", "forward", "compensating", "settled"]

COMPENSATION_KEY = "compensation"
"""The timer that ends clean-up which takes too long."""


class RunState:
    """One run of a plan.  Called by one thread at a time.

    ``numbers`` counts events; share it with whoever makes `StepOutput` events of the run.
    """

    def __init__(
        self, plan: Plan, context: RunContext, numbers: Iterator[int] | None = None
    ) -> None:
        self.plan = plan
        self.context = context
        self.status: RunStatus | Literal["new", "running"] = "new"
        self.failure: Failure | None = None
        self.cancels: list[tuple[Moment, CancelAsked]] = []
        """Every cancel that was heard, also those that were not obeyed."""
        self.begun: Moment | None = None
        self.ended: Moment | None = None
        self.not_run: tuple[str, ...] = ()
        """The on_failure phases that were called for and did not begin."""
        self.compensating = False
        """Whether clean-up began; it stays true."""
        self._narrator = Narrator(context.run_id, count(1) if numbers is None else numbers)
        self._desk = Desk(plan, self._narrator, run_variables(plan, context))
        self.forward = [PhaseRun(phase, self._desk) for phase in plan.phases]
        self.clean_up = [PhaseRun(phase, self._desk) for phase in reversed(plan.on_failure)]
        self._stage: Stage = "new"
        self._at = 0
        """Index of the current phase within its stage."""
        self._stop: Literal["cancelled", "lost"] | None = None
        self._hard = False
        self._out_of_time = False
        self._limit_s = 0.0
        """Monotonic second at which clean-up is ended."""

    @property
    def settled(self) -> bool:
        """Whether the run is over; every later input is ignored."""
        return self._stage == "settled"

    @property
    def cancel_asked(self) -> bool:
        """Whether a cancel was heard, obeyed or not."""
        return bool(self.cancels)

    @property
    def compensation(self) -> Compensation:
        """How clean-up went so far: none when it never began."""
        if not self.compensating:
            return "none"
        well = [phase for phase in self.clean_up if phase.ended and phase.verdict == "ok"]
        return "failed" if not well else "ok" if len(well) == len(self.clean_up) else "partial"

    def record(self, at: Moment) -> dict[str, Any]:
        """Return the ledger's line of this run as it stands; `ops.record` has its shape."""
        return run_record(self, at)

    def handle(self, event: RunInput, at: Moment) -> list[Effect]:
        """Take one input and say what must happen, in order.

        An input that is late or means nothing now is ignored: the answer is empty.
        """
        if isinstance(event, CancelAsked):
            self.cancels.append((at, event))
        if self._stage == "settled":
            return []
        effects = self._begin(event, at) if isinstance(event, RunBegun) else self._take(event, at)
        return effects + self._go_on(at)

    def _begin(self, event: RunBegun, at: Moment) -> list[Effect]:
        if self._stage != "new":
            return []
        self._stage, self.status, self.begun = "forward", "running", at
        head = self._narrator.head("", at)
        told = Emit(RunStarted(*head, self.plan.op, self.plan.env))
        if event.denied is not None and self._stop is None:
            return [told, *self._deny(event.denied, at)]
        if self._stop or not self.forward:
            return [told]
        return [told, *self.forward[0].begin(at)]

    def _deny(self, denied: GateAnswered, at: Moment) -> list[Effect]:
        effects: list[Effect] = []
        for phase in self.forward:
            effects += phase.deny(denied, at)
            self._blame(phase)
        return effects + self._compensate(at)

    def _take(self, event: RunInput, at: Moment) -> list[Effect]:
        phase = self._current
        match event:
            case CancelAsked():
                return self._cancel(event, at)
            case _ if phase is None:
                return []
            case StepFinished(step_id, result):
                return phase.finish(step_id, result, at)
            case GateAnswered():
                return phase.answer_gate(event, at)
            case PointAnswered():
                return phase.answer_point(event, at)
            case Tick(key):
                return self._tick(key, phase, at)
            case HostLost():
                return self._lose_host(event, phase, at)
            case RunBegun():
                return []

    @property
    def _current(self) -> PhaseRun | None:
        phases = {"forward": self.forward, "compensating": self.clean_up}.get(self._stage, [])
        return phases[self._at] if self._at < len(phases) else None

    def _cancel(self, event: CancelAsked, at: Moment) -> list[Effect]:
        """Obey the first cancel of a run that goes forward, and every first hard one."""
        if event.hard and not self._hard:
            self._hard = True
            if self._stage == "compensating":
                return self._stop_phase(at)
        if self._stop or self._stage == "compensating":
            return []
        self._stop = "cancelled"
        self._blame_cancel()
        return self._stop_phase(at)

    def _stop_phase(self, at: Moment) -> list[Effect]:
        return self._current.stop(at) if self._current else []

    def _tick(self, key: str, phase: PhaseRun, at: Moment) -> list[Effect]:
        if key != COMPENSATION_KEY:
            return phase.tick(key)
        if self._stage != "compensating" or self._out_of_time:
            return []
        self._out_of_time = True
        return phase.stop(at)

    def _lose_host(self, event: HostLost, phase: PhaseRun, at: Moment) -> list[Effect]:
        if self._stage == "compensating":
            # Clean-up goes on where it was: no phase of it may run twice.
            left_s = max(self._limit_s - at.mono_s, 0.0)
            again = [] if self._out_of_time else [ArmTimer(COMPENSATION_KEY, left_s)]
            stopping = self._hard or self._out_of_time
            return [*again, *phase.recover(event.alive, event.reason, at, stopping=stopping)]
        self._blame(phase)
        if self._stop is None:
            self._stop = "lost"
            self.failure = self.failure or Failure("lost", f"executor lost: {event.reason}")
        return phase.recover(event.alive, event.reason, at, stopping=True)

    def _go_on(self, at: Moment) -> list[Effect]:
        """Begin phases until one is still going or the run is over."""
        effects: list[Effect] = []
        while self._stage in {"forward", "compensating"}:
            phase = self._current
            if phase is not None and not self._is_over(phase):
                return effects
            if self._stage == "forward":
                effects += self._after_forward(phase, at)
            else:
                effects += self._after_clean_up(at)
        return effects

    def _is_over(self, phase: PhaseRun) -> bool:
        if self._stage == "forward":
            self._blame(phase)
        return phase.ended or (self._stop is not None and not phase.begun)

    def _after_forward(self, phase: PhaseRun | None, at: Moment) -> list[Effect]:
        if phase is None and self._stop is None:
            return self._settle("ok", at)
        if phase is not None and self._stop is None and phase.verdict == "ok":
            self._at += 1
            return self._current.begin(at) if self._current else []
        left_out = self._leave_out(self.forward, "not_reached" if self._stop else "skipped", at)
        if phase is not None and self._stop is None and phase.verdict in {"gated", "waiting"}:
            return left_out + self._settle("gated" if phase.verdict == "gated" else "waiting", at)
        return left_out + self._compensate(at)

    def _compensate(self, at: Moment) -> list[Effect]:
        if self._hard or not self.clean_up:
            self.not_run = tuple(phase.phase.name for phase in self.clean_up)
            return self._settle(self._verdict, at)
        self._stage, self._at, self.compensating = "compensating", 0, True
        limit_s = self.plan.compensation_timeout_s
        self._limit_s = at.mono_s + limit_s
        if self.failure:
            self._desk.variables.update(failure_variables(self.failure))
        names = tuple(phase.phase.name for phase in self.clean_up)
        told = Emit(CompensationStarted(*self._narrator.head("", at), names))
        timer = ArmTimer(COMPENSATION_KEY, limit_s)
        return [MarkCompensation(), told, timer, *self.clean_up[0].begin(at)]

    def _after_clean_up(self, at: Moment) -> list[Effect]:
        self._at += 1
        phase = self._current
        if phase is not None and not (self._hard or self._out_of_time):
            return phase.begin(at)
        self.not_run = tuple(left.phase.name for left in self.clean_up[self._at :])
        left_out = self._leave_out(self.clean_up, "not_reached", at)
        return [*left_out, DropTimer(COMPENSATION_KEY), *self._settle(self._verdict, at)]

    def _leave_out(self, phases: list[PhaseRun], status: StepStatus, at: Moment) -> list[Effect]:
        left = [phase for phase in phases[self._at :] if not phase.ended]
        return [effect for phase in left for effect in phase.leave_out(status, at)]

    @property
    def _verdict(self) -> RunStatus:
        return "cancelled" if self._stop == "cancelled" else "fail"

    def _settle(self, status: RunStatus, at: Moment) -> list[Effect]:
        self._stage, self.status, self.ended = "settled", status, at
        record = self.record(at)
        head = self._narrator.head("", at)
        return [Emit(RunSettled(*head, status, self.compensation, record)), Settle(status, record)]

    def _blame(self, phase: PhaseRun) -> None:
        """Keep the first step that failed as the run's cause."""
        step = phase.first_failed
        if self.failure is None and step is not None:
            planned, result = step.planned, step.result
            self.failure = Failure(
                "fail",
                result.error or result.status,
                planned.step_id,
                planned.phase,
                planned.fn,
                result.exit_code,
            )

    def _blame_cancel(self) -> None:
        phase = self._current
        running = phase.running if phase else []
        if self.failure is None and running:
            step = running[0].planned
            self.failure = Failure("cancelled", "cancelled", step.step_id, step.phase, step.fn)
        elif self.failure is None:
            self.failure = Failure("cancelled", "cancelled")
