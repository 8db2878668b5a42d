"""One step's life inside a run: its attempts, how it settled, and the events that tell of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ops.events import StepRetrying, StepSettled, StepStarted
from ops.references import look_up
from ops.run_values import Emit
from ops.step_result import StepResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.events import StepStatus
    from ops.plan import PlannedStep
    from ops.run_values import Moment

StepState: TypeAlias = Literal["declared", "running", "backing_off", "asked", "settled"]


@dataclass(slots=True)
class Narrator:
    """Numbers the events of one run."""

    run_id: str
    numbers: Iterator[int]

    def head(self, step_id: str, at: Moment) -> tuple[str, str, int, float]:
        """Return the four fields that every event begins with."""
        return self.run_id, step_id, next(self.numbers), at.wall_s


@dataclass(slots=True)
class StepRun:
    """A planned step and what became of it.  ``status`` is None until it settled."""

    planned: PlannedStep
    state: StepState = "declared"
    attempts: int = 0
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Resolved; empty before the start."""
    aborted: bool = False
    begun: Moment | None = None
    ended: Moment | None = None
    status: StepStatus | None = None
    result: StepResult = field(default_factory=lambda: StepResult("cancelled"))
    """Of the last attempt."""
    outcomes: dict[str, Any] = field(default_factory=dict[str, Any])
    approval: Mapping[str, Any] | None = None
    fact: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What a gate or a point said when it stopped the run."""

    @property
    def step_id(self) -> str:
        """The id of the planned step."""
        return self.planned.step_id

    @property
    def active(self) -> bool:
        """Whether something is going on that will end."""
        return self.state in {"running", "backing_off", "asked"}

    @property
    def delay_s(self) -> float:
        """Seconds between the last attempt and the next."""
        return self.planned.retry.wait_s(self.attempts)

    @property
    def duration_ms(self) -> int:
        """From the first attempt's start to the end, waits between attempts included."""
        if self.begun is None or self.ended is None:
            return 0
        return round((self.ended.mono_s - self.begun.mono_s) * 1000)

    def start(self, args: Mapping[str, Any], at: Moment, narrator: Narrator) -> Emit:
        """Note the start and tell of it."""
        self.args, self.begun = args, at
        step = self.planned
        head = narrator.head(step.step_id, at)
        return Emit(StepStarted(*head, step.phase, step.fn, step.title, args, step.compensates))

    def retry(self, result: StepResult, at: Moment, narrator: Narrator) -> Emit:
        """Note that another attempt follows and tell of it."""
        self.state, self.result = "backing_off", result
        head, why = narrator.head(self.step_id, at), result.error or result.status
        return Emit(StepRetrying(*head, self.attempts + 1, self.delay_s, why))

    def settle(
        self, status: StepStatus, result: StepResult, at: Moment, narrator: Narrator
    ) -> Emit:
        """Note the end and tell of it.  Called once for every step of a run."""
        self.state, self.status, self.ended = "settled", status, at
        self.result = self._with_outcomes(result) if status == "ok" else result
        step, told = self.planned, self.result
        event = StepSettled(
            *narrator.head(self.step_id, at),
            phase=step.phase,
            fn=step.fn,
            title=step.title,
            args=step.args,
            status=status,
            attempts=self.attempts,
            duration_ms=self.duration_ms,
            exit_code=told.exit_code,
            error=told.error,
            outcomes=self.outcomes,
            approval=self.approval,
            output=told.output,
            output_digest=told.output_digest,
            output_bytes=told.output_bytes,
            compensates=step.compensates,
        )
        return Emit(event)

    def _with_outcomes(self, result: StepResult) -> StepResult:
        missing: list[str] = []
        for outcome in self.planned.outcomes:
            try:
                self.outcomes[outcome.name] = look_up(result.output, outcome.path)
            except KeyError:
                missing.append(f"outcome {outcome.name!r}: nothing at {outcome.path!r}")
        if not missing:
            return result
        # The work is done and must not be rolled back for a name; but nobody may miss it either.
        return StepResult(
            result.status,
            result.exit_code,
            "; ".join(missing),
            result.output,
            result.output_digest,
            result.output_bytes,
        )
