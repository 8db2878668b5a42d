"""Questions as documents and text: what was asked, how it stands, the line that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.points_book import fact_of, is_open
from runtimes.chant.columns import moment_text
from runtimes.chant.wording import answer_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.points_ledger import Kept


def question_document(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question for programs."""
    fact = fact_of(record)
    return {
        **fact,
        "answer": record["answer"],
        "by": record["by"],
        "proposal": record["proposal"],
        "votes": record["votes"],
        "asked": record["asked"],
        "answered_at": record["answered_at"],
        "history": record["history"],
        "line": answer_line(fact) if is_open(record) else None,
    }


def question_text(record: Mapping[str, Any]) -> str:
    """Return a question for people."""
    fact, asked = fact_of(record), record["asked"]
    lines = [f"{record['id']}  {_state(record)}", f"  {fact['title'] or fact['question']}"]
    if record["inputs"]:
        given = ", ".join(f"{name} = {value}" for name, value in record["inputs"].items())
        lines.append(f"  inputs: {given}")
    by = f"steward {asked['steward']}" if asked["steward"] else asked["actor"]
    run = f", run {asked['run_id']} of {asked['op']}" if asked["run_id"] else ""
    lines.append(f"  asked {moment_text(asked['at'])} by {by}{run}")
    if record["proposal"]:
        said = record["proposal"]
        lines.append(f"  proposed by {said['model']}: {said['answer']} ({said['reason']})")
    if is_open(record):
        lines.append(f"  {answer_line(fact)}")
    return "\n".join(lines)


def kept_document(kept: Kept) -> dict[str, Any]:
    """Return a question that has just been written, for programs."""
    return {**question_document(kept.record), "pushed": kept.pushed}


def missing(record: Mapping[str, Any]) -> str:
    """Say how many people gave which answer, while more are needed."""
    counted: dict[str, int] = {}
    for vote in record["votes"]:
        counted[str(vote["answer"])] = counted.get(str(vote["answer"]), 0) + 1
    said = ", ".join(f"{answer} by {count}" for answer, count in counted.items()) or "nobody"
    return f"{said}; {record['quorum']['count']} people must give the same answer"


def _state(record: Mapping[str, Any]) -> str:
    if not is_open(record):
        return f"answered {record['answer']} by {', '.join(record['by'])}"
    return f"open, {missing(record)}" if record["votes"] else "open"
