"""The one stream of events of a run: what ACP, terminal, `--progress-json` and tests all read."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

Stream: TypeAlias = Literal["stdout", "stderr"]
RunStatus: TypeAlias = Literal["ok", "fail", "cancelled", "gated", "waiting", "interrupted"]
Compensation: TypeAlias = Literal["none", "ok", "partial", "failed"]
StepStatus: TypeAlias = Literal[
    "ok", "fail", "cancelled", "skipped", "not_reached", "gated", "waiting"
]
"""How a step settled.

skipped: an earlier step failed, was gated or waits for an answer, so this one was left out.
not_reached: the run was stopped from outside before it came to this step.
"""


@frozen
class RunStarted:
    """The first event.  ``seq`` counts the run's events, ``time`` is epoch seconds."""

    run_id: str
    step_id: str
    seq: int
    time: float
    op: str
    env: str


@frozen
class StepStarted:
    """A step starts (told once, not for each attempt).  ``args`` are resolved."""

    run_id: str
    step_id: str
    seq: int
    time: float
    phase: str
    fn: str
    title: str
    args: Mapping[str, Any]
    compensates: bool
    """It belongs to an on_failure phase, so no plan announced it."""


@frozen
class StepRetrying:
    """An attempt failed with ``error``; ``attempt`` is the next one, ``delay_s`` away."""

    run_id: str
    step_id: str
    seq: int
    time: float
    attempt: int
    delay_s: float
    error: str


@frozen
class StepOutput:
    """Text that a step printed, as it came."""

    run_id: str
    step_id: str
    seq: int
    time: float
    stream: Stream
    text: str


@frozen
class StepSettled:
    """The one last word on a step, also on one that never ran (``attempts`` 0)."""

    run_id: str
    step_id: str
    seq: int
    time: float
    phase: str
    fn: str
    title: str
    args: Mapping[str, Any]
    """As declared, with references unresolved."""
    status: StepStatus
    attempts: int
    duration_ms: int
    exit_code: int | None
    error: str | None
    outcomes: Mapping[str, Any]
    approval: Mapping[str, Any] | None
    output: Mapping[str, Any]
    output_digest: str
    output_bytes: int
    compensates: bool


@frozen
class GatePending:
    """The run stops at a gate that people have not opened; ``fact`` is the pending fact."""

    run_id: str
    step_id: str
    seq: int
    time: float
    gate: str
    fact: Mapping[str, Any]


@frozen
class PointWaiting:
    """The run stops at an open question; ``fact`` has its id and text."""

    run_id: str
    step_id: str
    seq: int
    time: float
    point: str
    fact: Mapping[str, Any]


@frozen
class CompensationStarted:
    """The on_failure ``phases`` follow, in this order."""

    run_id: str
    step_id: str
    seq: int
    time: float
    phases: tuple[str, ...]


@frozen
class RunSettled:
    """The last event.  ``record`` is the line for the ledger."""

    run_id: str
    step_id: str
    seq: int
    time: float
    status: RunStatus
    compensation: Compensation
    record: Mapping[str, Any]


Event: TypeAlias = (
    RunStarted
    | StepStarted
    | StepRetrying
    | StepOutput
    | StepSettled
    | GatePending
    | PointWaiting
    | CompensationStarted
    | RunSettled
)

EVENT_NAMES: Mapping[type[Event], str] = {
    RunStarted: "run_started",
    StepStarted: "step_started",
    StepRetrying: "step_retrying",
    StepOutput: "step_output",
    StepSettled: "step_settled",
    GatePending: "gate_pending",
    PointWaiting: "point_waiting",
    CompensationStarted: "compensation_started",
    RunSettled: "run_settled",
}


def event_json(event: Event) -> dict[str, Any]:
    """Return the JSON form of an event: ``event`` (its name), then its fields."""
    return {"event": EVENT_NAMES[type(event)], **asdict(event)}
