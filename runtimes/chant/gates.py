"""A run at a gate: what it asks, and what the ledger lets it do.  No proof, no passage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.errors import LedgerError
from ops.gate_facts import GateAsk
from ops.gate_ledger import GateLedger, Stopped
from ops.run_values import GateAnswered
from runtimes.chant.run_tasks import GateLooked

if TYPE_CHECKING:
    from ops.git import Stopping
    from ops.ledger import Ledger
    from ops.run_values import RecordGate
    from runtimes.chant.run_tasks import Prepared


def reach_gate(
    ledger: Ledger | None, prepared: Prepared, asked: RecordGate, now_s: float, stop: Stopping
) -> GateLooked:
    """Look a gate up for a run; what the run then does is on the ledger when this returns."""
    step_id = asked.step_id
    if ledger is None:
        return _shut(step_id, "without the ledger nobody can open it")
    try:
        reached, warnings = GateLedger(ledger).reach(gate_ask(prepared, asked), now_s, stop)
    except Stopped as error:
        return _shut(step_id, error.message)
    except LedgerError as error:
        return _shut(step_id, f"no proof, no passage: {error.message}")
    answer = GateAnswered(step_id, reached.state, reached.fact)
    return GateLooked(answer, tuple(f"warning: {each}" for each in warnings))


def gate_ask(prepared: Prepared, asked: RecordGate) -> GateAsk:
    """Say who asks at a gate, and for what."""
    plan, context, gate = prepared.plan, prepared.context, asked.step.gate
    if gate is None:
        msg = f"step {asked.step_id} is no gate"
        raise ValueError(msg)
    return GateAsk(
        op=plan.op,
        gate=gate.gate,
        env=plan.env,
        run_id=context.run_id,
        step_id=asked.step_id,
        op_digest=asked.op_digest,
        params_digest=asked.params_digest,
        params=plan.params,
        description=gate.description,
        timeout_s=gate.timeout_s,
        quorum=gate.quorum,
        roles=gate.roles,
        reuse=gate.reuse,
        channel=context.origin,
        actor=context.actor,
        steward=context.steward,
    )


def _shut(step_id: str, why: str) -> GateLooked:
    return GateLooked(GateAnswered(step_id, "unreadable", error=why))
