"""An Op resolved for one environment and one set of parameters: what will run, in which order.

Pure.  The same Op, environment and parameters give the same digests everywhere.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ops.digests import digest
from ops.durations import format_duration
from ops.errors import EnvUnknown
from ops.model import ActivityStep, GateStep, Outcome, PointStep, Retry
from ops.params import resolve_params
from ops.profiles import all_profiles
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.model import Op, Phase, Profile, Step
    from ops.project import Project

StepKind: TypeAlias = Literal["activity", "gate", "point"]


@frozen
class PlannedStep:
    """One step, ready to start but for its references."""

    step_id: str
    phase: str
    kind: StepKind
    fn: str
    """The activity's name, or ``gate:NAME``, or ``point:NAME``."""
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """As declared."""
    profile: str = ""
    timeout_s: float | None = None
    """For each attempt."""
    retry: Retry = field(default_factory=Retry)
    outcomes: tuple[Outcome, ...] = ()
    gate: GateStep | None = None
    point: str | None = None
    compensates: bool = False
    call: str = ""
    """``module:function`` behind an activity of the project's own; empty for ours."""

    @property
    def title(self) -> str:
        """What people see: ``<phase> / <fn>``."""
        return f"{self.phase} / {self.fn}"


@frozen
class PlannedPhase:
    """The steps of one phase; ``compensates`` marks an on_failure phase."""

    name: str
    steps: tuple[PlannedStep, ...]
    parallel: bool = False
    fail_fast: bool = False
    compensates: bool = False


@frozen
class Plan:
    """Everything that `ops.run_state` needs to know of an Op."""

    op: str
    env: str
    phases: tuple[PlannedPhase, ...]
    on_failure: tuple[PlannedPhase, ...] = ()
    """In order of declaration; they run in reverse."""
    overview: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    op_digest: str = ""
    params_digest: str = ""
    compensation_timeout_s: float = 300.0

    @property
    def steps(self) -> tuple[PlannedStep, ...]:
        """The declared steps in order, without on_failure: what a client sees up front."""
        return tuple(step for phase in self.phases for step in phase.steps)


def make_plan(
    op: Op, project: Project, env: str, given: Mapping[str, Any], environ: Mapping[str, str]
) -> Plan:
    """Resolve a checked ``op``.  ``given`` are values asked for by name, text or typed.

    Raises:
        EnvUnknown: The Op does not run in ``env``.
        ParamInvalid: See `ops.params.resolve_params`.

    """
    if op.environments and env not in op.environments:
        msg = f"op {op.name!r} does not run in environment {env!r}; it declares: "
        raise EnvUnknown(msg + ", ".join(op.environments))
    params = resolve_params({**project.params, **op.params}, given, environ)
    return plan_with(op, project, env, params)


def plan_with(op: Op, project: Project, env: str, params: Mapping[str, Any]) -> Plan:
    """Resolve a checked ``op`` with ``params`` that are typed already, perhaps not all of them."""
    profiles = all_profiles(project.profiles)
    phases = tuple(_planned(phase, profiles, compensates=False) for phase in op.phases)
    on_failure = tuple(_planned(phase, profiles, compensates=True) for phase in op.on_failure)
    return Plan(
        op=op.name,
        env=env,
        phases=phases,
        on_failure=on_failure,
        overview=op.overview,
        labels=op.labels,
        params=params,
        op_digest=digest([phases, on_failure]),
        params_digest=digest(params),
        compensation_timeout_s=project.compensation_timeout_s,
    )


def _planned(phase: Phase, profiles: Mapping[str, Profile], *, compensates: bool) -> PlannedPhase:
    steps = [_planned_step(step, phase.name, profiles) for step in phase.steps]
    if compensates:
        steps = [replace(step, compensates=True) for step in steps]
    return PlannedPhase(phase.name, tuple(steps), phase.parallel, phase.fail_fast, compensates)


def _planned_step(step: Step, phase: str, profiles: Mapping[str, Profile]) -> PlannedStep:
    match step:
        case ActivityStep():
            profile = profiles[step.profile]
            return PlannedStep(
                step.step_id,
                phase,
                "activity",
                step.fn,
                call=step.call,
                args=step.args,
                profile=step.profile,
                timeout_s=step.timeout_s or profile.timeout_s,
                retry=step.retry or profile.retry,
                outcomes=step.outcomes,
            )
        case GateStep():
            fn = f"gate:{step.gate}"
            return PlannedStep(step.step_id, phase, "gate", fn, args=gate_args(step), gate=step)
        case PointStep():
            return PlannedStep(
                step.step_id,
                phase,
                "point",
                f"point:{step.point}",
                args=step.args,
                outcomes=step.outcomes,
                point=step.point,
            )


def gate_args(gate: GateStep) -> dict[str, Any]:
    """Return what a gate step shows as its args."""
    shown = {"gate": gate.gate, "description": gate.description, "quorum": gate.quorum}
    return {**shown, "timeout": format_duration(gate.timeout_s), "roles": list(gate.roles)}
