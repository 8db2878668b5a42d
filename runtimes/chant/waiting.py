"""What waits for people in an environment: gates, questions, and the runs that stopped at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.gate_ledger import GateLedger
from ops.gates import run_command, with_standing
from ops.points_ledger import PointLedger
from runtimes.chant.questions_shown import question_document
from runtimes.chant.wording import approve_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.gate_facts import Pending
    from ops.ledger import Ledger


def open_gates(ledger: Ledger, env: str, now_s: float) -> list[dict[str, Any]]:
    """Return the gates that wait, and approvals that no run has used, each with the line to type.

    ``approve`` answers a pending one, and is None where only ``run`` is left to do.

    Raises:
        LedgerError: The facts can't be read.

    """
    found: list[dict[str, Any]] = []
    waiting = [each for each in GateLedger(ledger).open(now_s) if each[0].env == env]
    shut = [(each.op, each.gate) for each, standing in waiting if standing.state == "pending"]
    for pending, standing in waiting:
        where = (pending.op, pending.gate)
        several = shut.count(where) > 1
        line = _approve_line(pending, several=several) if standing.state == "pending" else None
        run = run_command(pending.op, pending.env, pending.row.get("params"))
        fact = with_standing(pending, standing)
        found.append({**fact, "state": standing.state, "approve": line, "run": run})
    return found


def _approve_line(pending: Pending, *, several: bool) -> str:
    """Return the line that opens this gate and no other."""
    which = f" --run {pending.run_id}" if several else ""
    return f"{approve_line(pending.op, pending.gate)} --env {pending.env}{which}"


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
    shut = {(each["op"], each["gate"]) for each in gates if each["state"] == "pending"}
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
