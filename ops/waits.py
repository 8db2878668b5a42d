"""Whether an Op may run by itself now, or waits for people: judged by its newest run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ops.gate_ledger import GateLedger
from ops.in_flight import InFlight
from ops.points_book import is_open
from ops.points_ledger import PointLedger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.ledger import Ledger

WaitState: TypeAlias = Literal["free", "ready", "waits", "busy"]


@dataclass(frozen=True, slots=True)
class Wait:
    """How an Op stands; ``reason`` names what keeps it, or kept it.

    ``free``: nothing; ``ready``: people have said what it waited for; ``waits``: they have not;
    ``busy``: a run of it goes on in another process.
    """

    state: WaitState
    reason: str = ""


def judge(ledger: Ledger, env: str, op: str, now_s: float, notes: InFlight | None = None) -> Wait:
    """Judge an Op in an environment; ``notes`` are of the runs that go on, None: the ledger's.

    Raises:
        LedgerError: It can't be told.

    """
    for run in (notes or InFlight(ledger.state_dir)).living():
        if run.record.get("op") == op and run.record.get("env") == env:
            return Wait("busy", f"run {run.record['id']} goes on in process {run.pid}")
    newest = ledger.newest(env, op)
    if newest is None:
        return Wait("free")
    match newest["status"]:
        case "waiting":
            return _question(ledger, newest["point"] or {})
        case "gated":
            return _gate(ledger, env, op, newest["gate"] or {}, now_s)
        case _:
            return Wait("free")


def _question(ledger: Ledger, fact: Mapping[str, Any]) -> Wait:
    question_id = str(fact.get("id", ""))
    record = PointLedger(ledger).find(question_id) if question_id else None
    if record is None:
        return Wait("free")
    return Wait("waits" if is_open(record) else "ready", f"question {question_id}")


def _gate(ledger: Ledger, env: str, op: str, fact: Mapping[str, Any], now_s: float) -> Wait:
    book = GateLedger(ledger).book(op)
    reason = f"gate {fact.get('gate')}"
    for pending in book.asked(str(fact.get("gate")), env):
        if pending.fact_id == fact.get("id"):
            match book.standing(pending, now_s).state:
                case "pending":
                    return Wait("waits", reason)
                case "approved":
                    return Wait("ready", reason)
                case _:
                    break
    return Wait("free")
