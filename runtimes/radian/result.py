"""The record of a turn for whoever asked for it: ``Result``, and what ACP carries in ``_meta``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.radian.fold import cost_table

if TYPE_CHECKING:
    from runtimes.radian.exit_codes import Ending
    from runtimes.radian.fold import TurnFold

SCHEMA = 1


def result_table(session_id: str, journal: str, fold: TurnFold, ending: Ending) -> dict[str, Any]:
    """Return the last object of ``radian exec``; absent keys are not known or not so."""
    table: dict[str, Any] = {
        "type": "Result",
        "schema": SCHEMA,
        "session_id": session_id,
        "turn": fold.turn,
        "status": ending.status,
        "exit_code": ending.exit_code,
        "stop_reason": ending.stop_reason,
    }
    if fold.end.end == "Incomplete":
        table["reason"] = fold.end.reason
    table |= {"text": fold.text, "cost": cost_table(fold.cost)}
    table["run_metrics"] = fold.metrics.as_table()
    if fold.end.end == "Failed":
        table["error"] = fold.end.error or "unknown"
    if fold.denials:
        table["permission_denials"] = [
            {"call_id": each.call_id, "tool": each.tool, "reason": each.reason}
            for each in fold.denials
        ]
    table["journal"] = journal
    return table


def meta_of(fold: TurnFold) -> dict[str, Any]:
    """Return the same for the answer to a prompt."""
    radian: dict[str, Any] = {
        "cost": cost_table(fold.cost),
        "text": fold.text,
        "metrics": fold.metrics.as_table(),
    }
    if fold.end.end == "Failed":
        radian["error"] = fold.end.error or "unknown"
    return {"radian": radian}
