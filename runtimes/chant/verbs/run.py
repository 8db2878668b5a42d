"""``chant run OP``: run an Op, or with --plan only show what would run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.verb import (
    CANCELLED,
    FAILED,
    OK,
    REFUSED,
    USAGE,
    WAITING,
    Flag,
    Invocation,
    Outcome,
    Param,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.plan import Plan, PlannedPhase, PlannedStep
    from ops.run_values import Origin
    from runtimes.chant.run_tasks import RunRequest


def show_plan(invocation: Invocation, around: Surroundings) -> Outcome:
    """Check and resolve the Op, run nothing."""
    from runtimes.chant.planning import planned

    plan = planned(request_of(invocation, around.cwd, around.environ)).plan
    return Outcome(OK, plan_document(plan), _text(plan))


def request_of(
    invocation: Invocation, cwd: str, environ: Mapping[str, str], origin: Origin = "cli"
) -> RunRequest:
    """Read the invocation of ``run`` into what the run's tasks need."""
    from runtimes.chant.run_tasks import RunRequest

    return RunRequest(
        op=invocation.param("OP"),
        cwd=cwd,
        environ=environ,
        env=invocation.value("--env"),
        params=invocation.values("--param"),
        no_ledger=invocation.on("--no-ledger"),
        ignore_depends=invocation.on("--ignore-depends"),
        origin=origin,
        steward=environ.get("CHANT_STEWARD") or None,
    )


def plays(invocation: Invocation) -> bool:
    """Tell whether the invocation runs an Op, step by step, rather than answers something."""
    return invocation.verb is RUN and not invocation.on("--plan")


def plan_document(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON shows it."""
    return {
        "op": plan.op,
        "overview": plan.overview,
        "env": plan.env,
        "params": dict(plan.params),
        "op_digest": plan.op_digest,
        "params_digest": plan.params_digest,
        "phases": [_phase(phase) for phase in plan.phases],
        "on_failure": [_phase(phase) for phase in plan.on_failure],
    }


def _phase(phase: PlannedPhase) -> dict[str, Any]:
    steps = [_step(step) for step in phase.steps]
    return {"name": phase.name, "parallel": phase.parallel, "steps": steps}


def _step(step: PlannedStep) -> dict[str, Any]:
    return {
        "id": step.step_id,
        "fn": step.fn,
        "args": dict(step.args),
        "timeout_s": step.timeout_s,
        "attempts": step.retry.attempts,
    }


def _text(plan: Plan) -> str:
    lines = [f"{plan.op} in {plan.env}: {plan.overview}".rstrip(": ")]
    for phase in plan.phases:
        lines += _phase_lines(phase, "")
    for phase in reversed(plan.on_failure):
        lines += _phase_lines(phase, "on failure: ")
    return "\n".join(lines)


def _phase_lines(phase: PlannedPhase, prefix: str) -> list[str]:
    together = " (in parallel)" if phase.parallel else ""
    steps = [f"    {step.fn}  {step.step_id}" for step in phase.steps]
    return [f"  {prefix}{phase.name}{together}", *steps]


RUN = Verb(
    path=("run",),
    summary="Run an Op: its phases in order, and its on_failure phases if it fails",
    handler=show_plan,
    document=(
        "the run's record, as the ledger keeps it; with --plan"
        ' {"op", "overview", "env", "params", "op_digest", "params_digest",'
        ' "phases": [{"name", "parallel", "steps": [{"id", "fn", "args", "timeout_s",'
        ' "attempts"}]}], "on_failure": [...]}; where nothing ran {"error", "exit_code"}.'
        ' With --progress-json lines {"event", "run_id", "step_id", "seq", "time", ...}: plan (as'
        " above), run_started, step_started, step_output, step_retrying, step_settled,"
        " gate_pending, point_waiting, compensation_started, run_settled, remark, and last record"
    ),
    params=(Param("OP", "the Op's name, see chant list"),),
    own_flags=(
        Flag("--plan", "show what would run and run nothing"),
        Flag("--param", "a parameter of the Op, may be given for each", "NAME=VALUE", many=True),
        Flag("--env", "the environment; else the project's default", "ENV"),
        Flag(
            "--progress-json",
            "one JSON line for each event: the plan, the run's events, the record",
        ),
        Flag("--no-ledger", "run without leaving a record"),
        Flag("--ignore-depends", "run although an Op it depends on is not ok; the record says so"),
    ),
    exit_codes=(OK, FAILED, USAGE, WAITING, REFUSED, CANCELLED),
    in_prompts="run",
)
