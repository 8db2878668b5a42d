"""A decision point as a document: what is asked, of whom, in the words of its file.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.points import ModelDecider, QuorumDecider, TableDecider

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.points import Condition, Decider, Input, Point


def point_document(point: Point) -> dict[str, Any]:
    """Return a point for programs; people stand last, declared or not."""
    others = [each for each in point.deciders if not isinstance(each, QuorumDecider)]
    return {
        "kind": "point",
        "title": point.title,
        "question": {
            "type": point.question.type,
            "instructions": point.question.instructions,
            "answers": list(point.question.candidates),
        },
        "capability": point.capability,
        "inputs": {name: _input(each) for name, each in point.inputs.items()},
        "deciders": [_decider(each) for each in (*others, point.people)],
        "file": point.file,
    }


def _input(declared: Input) -> Any:
    return {"answer": declared.answer_of} if declared.answer_of else declared.type


def _decider(decider: Decider) -> dict[str, Any]:
    match decider:
        case TableDecider(rows):
            shown = [{"when": _when(row.when), "answer": row.answer} for row in rows]
            return {"kind": decider.kind, "rows": shown}
        case ModelDecider(provider, model, threshold, unreachable):
            asked = {"provider": provider, "model": model, "threshold": threshold}
            return {"kind": decider.kind, **asked, "unreachable": unreachable}
        case QuorumDecider(count, roles):
            return {"kind": decider.kind, "count": count, "roles": list(roles)}


def _when(conditions: Iterable[Condition]) -> dict[str, Any]:
    when: dict[str, Any] = {}
    for each in conditions:
        value = list(each.value) if each.op == "in" else each.value
        if each.op == "eq":
            when[each.name] = value
        else:
            when.setdefault(each.name, {})[each.op] = value
    return when
