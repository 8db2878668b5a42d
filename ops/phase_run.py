"""One phase of a run: which of its steps start, are tried again, or are left out.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ops.errors import ActivityFailed
from ops.events import GatePending, PointWaiting
from ops.references import resolve
from ops.run_values import AbortStep, ArmTimer, AskPoint, DropTimer, Emit, RecordGate, StartStep
from ops.step_result import StepResult, failed, lost
from ops.step_run import StepRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.events import StepStatus
    from ops.plan import Plan, PlannedPhase
    from ops.run_values import Effect, GateAnswered, Moment, PointAnswered
    from ops.step_run import Narrator

Verdict: TypeAlias = Literal["ok", "fail", "stopped", "gated", "waiting"]

RETRY_KEY = "retry:"
"""Prefix of the timers that end a wait between attempts; the step's id follows."""

NOT_RUN = StepResult("cancelled")
"""The result of a step that never ran: nothing printed, no error of its own."""


@dataclass(slots=True)
class Desk:
    """What the phases of a run share."""

    plan: Plan
    narrator: Narrator
    variables: dict[str, str]
    """For the environment of each step."""
    outputs: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])
    """Of the steps that ended well, by step id."""


class PhaseRun:
    """A phase that runs.  Every method returns effects, in order, and waits for nothing."""

    def __init__(self, phase: PlannedPhase, desk: Desk) -> None:
        self.phase = phase
        self.steps = [StepRun(step) for step in phase.steps]
        self.first_failed: StepRun | None = None
        self._desk = desk
        self._by_id = {step.step_id: step for step in self.steps}
        self._stopped = False
        self._left_out: StepStatus | None = None
        """Set once no further step may start: how those that did not are settled."""

    @property
    def ended(self) -> bool:
        """Whether every step settled."""
        return all(step.state == "settled" for step in self.steps)

    @property
    def begun(self) -> bool:
        """Whether any step started or settled."""
        return any(step.state != "declared" for step in self.steps)

    @property
    def running(self) -> list[StepRun]:
        """The steps whose end is still to come."""
        return [step for step in self.steps if step.state == "running"]

    @property
    def verdict(self) -> Verdict:
        """How the phase went; asked when it has ended."""
        if self.first_failed:
            return "fail"
        if self._stopped:
            return "stopped"
        statuses = {step.status for step in self.steps}
        if "gated" in statuses:
            return "gated"
        if "waiting" in statuses:
            return "waiting"
        return "ok" if statuses <= {"ok"} else "stopped"

    def begin(self, at: Moment) -> list[Effect]:
        """Start the first step, or all of them when they run side by side."""
        effects: list[Effect] = []
        while step := self._startable():
            effects += self._start(step, at)
        return effects + self._leave_out(at)

    def leave_out(self, status: StepStatus, at: Moment) -> list[Effect]:
        """Settle the steps of a phase that will not begin."""
        self._left_out = status
        return self._leave_out(at)

    def finish(self, step_id: str, result: StepResult, at: Moment) -> list[Effect]:
        """Take the end of an attempt: settle the step, or wait and try again."""
        step = self._by_id.get(step_id)
        if step is None or step.state != "running":
            return []
        if result.status == "ok":
            return self._settle(step, "ok", result, at)
        if step.aborted and result.status == "cancelled":
            return self._settle(step, "cancelled", result, at)
        if self._may_retry(step, result):
            told = step.retry(result, at, self._desk.narrator)
            return [told, ArmTimer(RETRY_KEY + step_id, step.delay_s)]
        return self._settle(step, "fail", result, at)

    def deny(self, denied: GateAnswered, at: Moment) -> list[Effect]:
        """Settle every step of a phase that will not begin: the gate that was rejected has failed.

        The others are skipped.
        """
        step = self._by_id.get(denied.step_id)
        effects: list[Effect] = []
        if step is not None and step.planned.gate is not None:
            self.first_failed = step
            why = f"gate {step.planned.gate.gate!r}: {denied.error or denied.state}"
            effects.append(step.settle("fail", failed(why), at, self._desk.narrator))
        return effects + self.leave_out("skipped", at)

    def answer_gate(self, answer: GateAnswered, at: Moment) -> list[Effect]:
        """Walk through an approved gate; stop at any other."""
        step = self._by_id.get(answer.step_id)
        if step is None or step.state != "asked" or step.planned.gate is None:
            return []
        gate = step.planned.gate.gate
        match answer.state:
            case "approved":
                step.approval = answer.fact
                return self._settle(step, "ok", StepResult("ok"), at)
            case "pending":
                step.fact = answer.fact
                head = self._desk.narrator.head(step.step_id, at)
                told = Emit(GatePending(*head, gate, answer.fact))
                return [told, *self._settle(step, "gated", NOT_RUN, at)]
            case "rejected" | "unreadable":
                why = answer.error or answer.state
                return self._settle(step, "fail", failed(f"gate {gate!r}: {why}"), at)

    def answer_point(self, answer: PointAnswered, at: Moment) -> list[Effect]:
        """Go on with an answer; stop at an open question."""
        step = self._by_id.get(answer.step_id)
        if step is None or step.state != "asked" or step.planned.point is None:
            return []
        point = step.planned.point
        match answer.state:
            case "answered":
                output = {"state": "answered", "by": None, **answer.fact, "answer": answer.answer}
                return self._settle(step, "ok", StepResult("ok", output=output), at)
            case "open":
                step.fact = answer.fact
                head = self._desk.narrator.head(step.step_id, at)
                told = Emit(PointWaiting(*head, point, answer.fact))
                return [told, *self._settle(step, "waiting", NOT_RUN, at)]
            case "failed":
                why = answer.error or "no answer"
                return self._settle(step, "fail", failed(f"point {point!r}: {why}"), at)

    def tick(self, key: str) -> list[Effect]:
        """Try a step again whose wait is over."""
        step = self._by_id.get(key.removeprefix(RETRY_KEY))
        if step is None or step.state != "backing_off":
            return []
        return [self._attempt(step)]

    def stop(self, at: Moment) -> list[Effect]:
        """Abort what runs, end what waits, start nothing more."""
        self._shut()
        return self._abort(at) + self._leave_out(at)

    def recover(
        self, alive: frozenset[str] | None, reason: str, at: Moment, *, stopping: bool
    ) -> list[Effect]:
        """Go on (or stop) after the host was lost: ask again for what it may have forgotten.

        Steps missing from ``alive`` are settled as lost, and so are open questions.
        """
        if stopping:
            self._shut()
        effects: list[Effect] = []
        for step in self.steps:
            if step.state == "backing_off":
                effects.append(ArmTimer(RETRY_KEY + step.step_id, step.delay_s))
            elif step.aborted and step.state == "running" and _lives(step, alive):
                effects.append(AbortStep(step.step_id))
        gone = [step for step in self.steps if step.active and not _lives(step, alive)]
        for step in gone:
            step.aborted = True  # nothing is left to abort when its neighbours fall
        for step in gone:
            if step.active:  # else its neighbour's fall has settled it
                effects += self._settle(step, "fail", lost(reason), at)
        return effects + (self.stop(at) if stopping else [])

    def _shut(self) -> None:
        self._stopped = True
        self._left_out = "not_reached"

    def _startable(self) -> StepRun | None:
        """Return the next step to start.  Gates of a parallel phase come before all else."""
        declared = [step for step in self.steps if step.state == "declared"]
        active = [step for step in self.steps if step.active]
        if self._left_out or not declared:
            return None
        if not self.phase.parallel:
            return None if active else declared[0]
        gates = [step for step in declared if step.planned.kind == "gate"]
        if gates:
            return None if active else gates[0]
        gate_open = all(step.planned.kind != "gate" for step in active)
        return declared[0] if gate_open else None

    def _start(self, step: StepRun, at: Moment) -> list[Effect]:
        plan, planned = self._desk.plan, step.planned
        try:
            args: dict[str, Any] = resolve(planned.args, plan.params, self._desk.outputs)
        except ActivityFailed as error:
            return self._settle(step, "fail", failed(error.message), at, advance=False)
        told = step.start(args, at, self._desk.narrator)
        if planned.kind == "activity":
            return [told, self._attempt(step)]
        step.state = "asked"
        if planned.kind == "point":
            return [told, AskPoint(step.step_id, planned, args)]
        return [told, RecordGate(step.step_id, planned, plan.op_digest, plan.params_digest)]

    def _attempt(self, step: StepRun) -> StartStep:
        step.state = "running"
        step.attempts += 1
        planned, variables = step.planned, dict(self._desk.variables)
        return StartStep(
            step.step_id, step.attempts, planned, step.args, variables, planned.timeout_s
        )

    def _may_retry(self, step: StepRun, result: StepResult) -> bool:
        more = step.attempts < step.planned.retry.attempts
        return more and result.status != "cancelled" and not self._left_out

    def _settle(
        self,
        step: StepRun,
        status: StepStatus,
        result: StepResult,
        at: Moment,
        *,
        advance: bool = True,
    ) -> list[Effect]:
        effects: list[Effect] = [step.settle(status, result, at, self._desk.narrator)]
        if status == "ok":
            self._desk.outputs[step.step_id] = step.result.output
        else:
            effects += self._close(step, status, at)
        return effects + self.begin(at) if advance else effects

    def _close(self, step: StepRun, status: StepStatus, at: Moment) -> list[Effect]:
        """Draw the consequences of a step that did not end well."""
        if status == "fail" and self.first_failed is None:
            self.first_failed = step
        alone = not self.phase.parallel or step.planned.kind == "gate"
        fail_fast = self.phase.fail_fast and status == "fail"
        if alone or fail_fast:
            self._left_out = self._left_out or "skipped"
        return self._abort(at) if fail_fast else []

    def _abort(self, at: Moment) -> list[Effect]:
        effects: list[Effect] = []
        for step in self.steps:
            if step.state == "running" and not step.aborted:
                step.aborted = True
                effects.append(AbortStep(step.step_id))
            elif step.state == "backing_off":
                effects.append(DropTimer(RETRY_KEY + step.step_id))
                ended = replace(step.result, status="cancelled")
                effects.append(step.settle("cancelled", ended, at, self._desk.narrator))
            elif step.state == "asked":
                effects.append(step.settle("cancelled", NOT_RUN, at, self._desk.narrator))
        return effects

    def _leave_out(self, at: Moment) -> list[Effect]:
        if self._left_out is None or any(step.active for step in self.steps):
            return []
        narrator, status = self._desk.narrator, self._left_out
        declared = [step for step in self.steps if step.state == "declared"]
        return [step.settle(status, NOT_RUN, at, narrator) for step in declared]


def _lives(step: StepRun, alive: frozenset[str] | None) -> bool:
    """Tell whether a step will report its end although the host was lost."""
    if step.state == "backing_off":
        return True
    return step.state == "running" and (alive is None or step.step_id in alive)
