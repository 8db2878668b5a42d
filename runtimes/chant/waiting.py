"""What waits for people in an environment: gates, questions, and the runs that stopped at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.gate_ledger import GateLedger
from ops.gates import with_standing
from ops.points_ledger import PointLedger
from runtimes.chant.questions_shown import question_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def open_questions(ledger: Ledger) -> list[dict[str, Any]]:
    """Return the questions that people have to answer, whichever environment asked.

    Raises:
        LedgerError: The branch can't be read.

    """
    return [question_document(each) for each in PointLedger(ledger).open()[0]]


def waiting_runs(
    newest: Mapping[str, Mapping[str, Any]],
    gates: Sequence[Mapping[str, Any]],
    questions: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return the newest runs that stopped at a gate or a question that is still open."""
    shut = {(each["op"], each["gate"]) for each in gates}
    asked = {each["id"] for each in questions}
    found: list[dict[str, Any]] = []
    for op, run in newest.items():
        at = _stopped_at(run)
        if (op, at.get("name")) in shut or at.get("id") in asked:
            found.append(
                {
                    "op": op,
                    "run_id": run["id"],
                    "status": run["status"],
                    "steward": run.get("steward"),
                    "since": run.get("ended"),
                    "at": at.get("name"),
                }
            )
    return found


def _stopped_at(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is known of the gate or question of a run that stopped at one."""
    match run["status"]:
        case "gated":
            return run.get("gate") or {}
        case "waiting":
            return run.get("point") or {}
        case _:
            return {}
