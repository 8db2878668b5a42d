"""The shape of a run's record, as far as whoever shows it relies on it.  Pure.

Other members may be missing, but none may be of another kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.shapes import (
    MAYBE_LIST,
    MAYBE_TABLE,
    MAYBE_TEXT,
    MAYBE_WHOLE,
    check_table,
    check_tables,
    check_texts,
)

if TYPE_CHECKING:
    from ops.shapes import Kinds

NEEDED: dict[str, Kinds] = {"id": str, "op": str, "status": str}
TEXTS = (
    *("op_digest", "env", "actor", "origin", "steward", "host", "params_digest"),
    *("started", "ended", "compensation"),
)
TABLES = ("git", "params", "labels", "outcomes", "failure", "gate", "point")
OTHERS: dict[str, Kinds] = {
    **dict.fromkeys(TEXTS, MAYBE_TEXT),
    **dict.fromkeys(TABLES, MAYBE_TABLE),
    **dict.fromkeys(("phases", "cancels", "not_run"), MAYBE_LIST),
}
GIT: dict[str, Kinds] = {"commit": MAYBE_TEXT}
STOPPED_AT: dict[str, Kinds] = {
    **dict.fromkeys(("id", "name", "step", "gate", "point", "question", "title"), MAYBE_TEXT),
    "approvals": MAYBE_LIST,
    "candidates": MAYBE_LIST,
    "params": MAYBE_TABLE,
}
FAILURE: dict[str, Kinds] = dict.fromkeys(("step_id", "phase", "fn", "error"), MAYBE_TEXT)
FAILURE_OTHERS: dict[str, Kinds] = {"exit_code": MAYBE_WHOLE}
PHASE: dict[str, Kinds] = {"name": str, "status": str, "steps": list}
STEP: dict[str, Kinds] = {"id": str, "fn": str, "status": str, "duration_ms": int}
STEP_OTHERS: dict[str, Kinds] = {
    **dict.fromkeys(("attempts", "start_ms"), MAYBE_WHOLE),
    **dict.fromkeys(("exit_code", "output_bytes"), MAYBE_WHOLE),
    **dict.fromkeys(("error", "output_digest"), MAYBE_TEXT),
    **dict.fromkeys(("outcome", "approval"), MAYBE_TABLE),
}
VOICE_OTHERS: dict[str, Kinds] = dict.fromkeys(("channel", "at", "note", "url"), MAYBE_TEXT)


def checked_run(value: Any) -> dict[str, Any]:
    """Return ``value``, which is a run's record.

    Raises:
        TypeError: It is none.

    """
    record = check_table(value, NEEDED, OTHERS)
    check_table(record.get("git") or {}, {}, GIT)
    if record.get("failure") is not None:
        check_table(record["failure"], FAILURE, FAILURE_OTHERS)
    for name in ("gate", "point"):
        check_table(record.get(name) or {}, {}, STOPPED_AT)
    check_texts("not_run", record.get("not_run"))
    check_tables("cancels", record.get("cancels"), {})
    for phase in check_tables("phases", record.get("phases"), PHASE):
        for step in check_tables("steps", phase["steps"], STEP, STEP_OTHERS):
            approval: dict[str, Any] = step.get("approval") or {}
            check_tables("by", approval.get("by"), {"approver": str}, VOICE_OTHERS)
    return record
