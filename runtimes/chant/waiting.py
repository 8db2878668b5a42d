"""What waits for people in an environment: gates, questions, and the runs that stopped at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.gate_ledger import GateLedger
from ops.gates import with_standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.ledger import Ledger


def open_gates(ledger: Ledger, env: str, now_s: float) -> list[dict[str, Any]]:
    """Return the gates that can be answered now, with who approved so far and the line to type.

    Raises:
        LedgerError: The facts can't be read.

    """
    found: list[dict[str, Any]] = []
    for pending, standing in GateLedger(ledger).open(now_s):
        if pending.env == env:
            line = f"chant approve {pending.op} {pending.gate} --approver <you> --env {env}"
            found.append({**with_standing(pending, standing), "approve": line})
    return found


def stopped_runs(newest: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the newest runs that stopped at a gate or a question."""
    return [
        {
            "op": op,
            "run_id": run["id"],
            "status": run["status"],
            "steward": run.get("steward"),
            "since": run.get("ended"),
            "at": _stopped_at(run),
        }
        for op, run in newest.items()
        if run["status"] in {"gated", "waiting"}
    ]


def _stopped_at(run: Mapping[str, Any]) -> str | None:
    stopped: Mapping[str, Any] = run.get("gate") or run.get("point") or {}
    return stopped.get("name")
