"""The line that a run leaves in the ledger.  Pure; the shape is documented in `run_record`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from ops.run_id import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ops.phase_run import PhaseRun
    from ops.run_state import RunState
    from ops.run_values import Moment
    from ops.step_run import StepRun

RECORD_VERSION = 1
"""Raised when a key changes its meaning; new keys don't raise it."""

MAX_ERROR_CHARS = 2000
"""An error in the record; more belongs in the output, which the ledger does not keep."""

MAX_OUTCOME_BYTES = 16 * 1024
"""A published outcome, as JSON.  Larger ones are cut and say so."""


def run_record(state: RunState, at: Moment) -> dict[str, Any]:
    """Return the record of a run, JSON-able, ``version`` first.

    ``status`` is ``running`` while it runs.  Each phase has name, status, on_failure (bool) and
    steps; each step id, fn, status, attempts, start_ms (since the run began; None: it never
    started), duration_ms, exit_code, error, outcome (name to value), approval, output_digest,
    output_bytes.  Args and output are not kept.  ``gate`` and
    ``point`` say what the run stopped at.  Every key is always there.
    """
    plan, context = state.plan, state.context
    phases = state.forward + (state.clean_up if state.compensating else [])
    ended = None if state.ended is None else timestamp(state.ended.wall_s)
    return {
        "version": RECORD_VERSION,
        "id": context.run_id,
        "op": plan.op,
        "op_digest": plan.op_digest,
        "env": plan.env,
        "actor": context.actor,
        "origin": context.origin,
        "steward": context.steward,
        "host": context.host,
        "git": {"commit": context.commit, "dirty": context.dirty},
        "params": dict(plan.params),
        "params_digest": plan.params_digest,
        "started": timestamp((state.begun or at).wall_s),
        "ended": ended,
        "status": state.status,
        "compensation": state.compensation,
        "labels": dict(plan.labels),
        "outcomes": _outcomes(phases),
        "phases": [_phase(phase, state.begun or at) for phase in phases],
        "failure": asdict(state.failure) if state.failure else None,
        "gate": _stopped_at("gate", phases),
        "point": _stopped_at("point", phases),
        "cancels": [{"at": timestamp(when.wall_s), "hard": c.hard} for when, c in state.cancels],
        "not_run": list(state.not_run),
        "ignored_depends": context.ignored_depends,
    }


def interrupted_record(
    stub: Mapping[str, Any], ended_s: float, *, compensating: bool
) -> dict[str, Any]:
    """Return the record of a run whose process is gone, from what it had written at its start."""
    compensation = "partial" if compensating else "none"
    return {
        **stub,
        "ended": timestamp(ended_s),
        "status": "interrupted",
        "compensation": compensation,
    }


def _phase(run: PhaseRun, began: Moment) -> dict[str, Any]:
    return {
        "name": run.phase.name,
        "status": _phase_status(run),
        "on_failure": run.phase.compensates,
        "steps": [_step(step, began) for step in run.steps],
    }


def _phase_status(run: PhaseRun) -> str:
    statuses = [step.status or "running" for step in run.steps]
    for telling in ("running", "fail", "cancelled", "gated", "waiting"):
        if telling in statuses:
            return telling
    if "ok" in statuses:
        return "ok"
    return statuses[0] if statuses else "ok"


def _step(step: StepRun, began: Moment) -> dict[str, Any]:
    result, start_s = step.result, step.begun.mono_s - began.mono_s if step.begun else None
    return {
        "id": step.step_id,
        "fn": step.planned.fn,
        "status": step.status or step.state,
        "attempts": step.attempts,
        "start_ms": None if start_s is None else round(start_s * 1000),
        "duration_ms": step.duration_ms,
        "exit_code": result.exit_code,
        "error": result.error[:MAX_ERROR_CHARS] if result.error else None,
        "outcome": {name: _bounded(value) for name, value in step.outcomes.items()} or None,
        "approval": dict(step.approval) if step.approval is not None else None,
        "output_digest": result.output_digest,
        "output_bytes": result.output_bytes,
    }


def _outcomes(phases: Iterable[PhaseRun]) -> dict[str, Any]:
    steps = (step for phase in phases for step in phase.steps)
    return {name: _bounded(value) for step in steps for name, value in step.outcomes.items()}


def _bounded(value: Any) -> Any:
    import json

    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if len(text) <= MAX_OUTCOME_BYTES:
        return value
    return f"{text[:MAX_OUTCOME_BYTES]} [{len(text) - MAX_OUTCOME_BYTES} more characters left out]"


def _stopped_at(
    kind: Literal["gate", "point"], phases: Iterable[PhaseRun]
) -> dict[str, Any] | None:
    stopped = "gated" if kind == "gate" else "waiting"
    for phase in phases:
        for step in phase.steps:
            if step.status == stopped:
                name = step.planned.fn.removeprefix(f"{kind}:")
                return {**step.fact, "name": name, "step": step.step_id}
    return None
