"""What goes into the machine of a run and what comes out of it, as values."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.events import Event, RunStatus
    from ops.plan import PlannedStep
    from ops.step_result import StepResult

GateState: TypeAlias = Literal["approved", "pending", "rejected", "unreadable"]
PointState: TypeAlias = Literal["answered", "open", "failed"]
Origin: TypeAlias = Literal["cli", "acp", "operator", "temporal"]


@frozen
class Moment:
    """When an input came: epoch seconds for people, monotonic seconds for durations."""

    wall_s: float
    mono_s: float


@frozen
class RunContext:
    """What a run's record says beside the plan: who ran it, from where, on which commit."""

    run_id: str
    actor: str = ""
    origin: Origin = "cli"
    steward: str | None = None
    host: str = ""
    commit: str | None = None
    dirty: bool | None = None
    ignored_depends: bool = False


@frozen
class RunBegun:
    """The first input.

    ``denied``: a person rejected the gate that an earlier run of this plan stopped at, so this
    one does not go forward; it fails at the gate and cleans up.
    """

    denied: GateAnswered | None = None


@frozen
class StepFinished:
    """The attempt that `StartStep` asked for is over."""

    step_id: str
    result: StepResult


@frozen
class GateAnswered:
    """What the ledger says of a gate.

    ``fact`` is the approval or the pending fact; ``error`` says why it can't be told (no proof,
    no passage) or who rejected it.
    """

    step_id: str
    state: GateState
    fact: Mapping[str, Any] = field(default_factory=dict[str, Any])
    error: str | None = None


@frozen
class PointAnswered:
    """What is known of a question; ``fact`` has id, text, and who answered (``by``)."""

    step_id: str
    state: PointState
    answer: Any = None
    fact: Mapping[str, Any] = field(default_factory=dict[str, Any])
    error: str | None = None


@frozen
class CancelAsked:
    """Stop the run and clean up; ``hard``: stop without cleaning up any further."""

    hard: bool = False


@frozen
class Tick:
    """A timer armed under ``key`` is due."""

    key: str


@frozen
class HostLost:
    """Whoever performed our effects crashed; timers and questions are gone with it.

    ``alive`` are the steps that still run and will report their end.  None: all that were
    started do; otherwise those missing from it are lost, and settled so at once.
    """

    reason: str
    alive: frozenset[str] | None = None


RunInput: TypeAlias = (
    RunBegun | StepFinished | GateAnswered | PointAnswered | CancelAsked | Tick | HostLost
)


@frozen
class StartStep:
    """Start an attempt; past ``timeout_s`` seconds it is aborted and ends as a timeout."""

    step_id: str
    attempt: int
    step: PlannedStep
    args: Mapping[str, Any]
    """With every reference resolved."""
    env: Mapping[str, str]
    """Variables to add to the environment that the run was started with."""
    timeout_s: float | None


@frozen
class AbortStep:
    """Stop an attempt.  Its `StepFinished` must still come."""

    step_id: str


@frozen
class ArmTimer:
    """Send `Tick` after ``delay_s`` seconds; arming a key again replaces it."""

    key: str
    delay_s: float


@frozen
class DropTimer:
    """Forget a timer.  A tick that comes all the same is ignored."""

    key: str


@frozen
class RecordGate:
    """Look a gate up and record it as pending when it is closed; answer with `GateAnswered`."""

    step_id: str
    step: PlannedStep
    op_digest: str
    params_digest: str


@frozen
class AskPoint:
    """Put a question to its deciders; answer with `PointAnswered`."""

    step_id: str
    step: PlannedStep
    args: Mapping[str, Any]


@frozen
class MarkCompensation:
    """Note durably that compensation begins, before the step that follows starts."""


@frozen
class Emit:
    """Tell everyone who follows the run."""

    event: Event


@frozen
class Settle:
    """The last effect: the run is over, and ``record`` belongs in the ledger."""

    status: RunStatus
    record: Mapping[str, Any]


Effect: TypeAlias = (
    StartStep
    | AbortStep
    | ArmTimer
    | DropTimer
    | RecordGate
    | AskPoint
    | MarkCompensation
    | Emit
    | Settle
)
