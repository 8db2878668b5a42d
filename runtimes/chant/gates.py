"""Gates as far as a run meets them: what it says when one is closed.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.run_id import timestamp

if TYPE_CHECKING:
    from ops.run_values import RecordGate
    from runtimes.chant.run_tasks import Prepared


def pending_fact(asked: RecordGate, prepared: Prepared, wall_s: float) -> dict[str, Any]:
    """Return what is known of a gate that a run stops at; it binds plan, params and environment."""
    gate, plan = asked.step.gate, prepared.plan
    fact: dict[str, Any] = {
        "op": plan.op,
        "gate": gate.gate if gate else asked.step.fn,
        "env": plan.env,
        "run_id": prepared.context.run_id,
        "op_digest": asked.op_digest,
        "params_digest": asked.params_digest,
        "since": timestamp(wall_s),
    }
    if gate:
        fact["expires"] = timestamp(wall_s + gate.timeout_s)
        fact["description"] = gate.description
    return fact
