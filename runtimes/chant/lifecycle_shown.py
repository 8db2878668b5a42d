"""Comparisons of resources as documents and as text.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.counts import counted
from ops.lifecycle import ACTION_MEANINGS, ACTIONS, CLASSES
from runtimes.chant.columns import columns, shown_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.lifecycle import Comparison, Finding


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return one resource as JSON shows it."""
    return {
        "name": finding.name,
        "reader": finding.reader,
        "class": finding.kind,
        "reason": finding.reason or None,
        "against": finding.against or None,
        "changes": [
            {"fact": each.fact, "wanted": each.wanted, "found": each.found}
            for each in finding.changes
        ],
    }


def comparison_text(found: Comparison) -> str:
    """Return the findings, the worst first, and a line of counts."""
    worst = list(CLASSES)
    rows: list[str] = []
    width = max((len(each.kind) for each in found.findings), default=0)
    names = max((len(each.name) for each in found.findings), default=0)
    for each in sorted(found.findings, key=lambda finding: worst.index(finding.kind)):
        head = f"{each.kind:<{width}}  {each.name:<{names}}  {each.reader}"
        rows.append(f"{head}: {each.reason}" if each.reason else head)
        rows += [f"{'':<{width}}    {line}" for line in _changes(each)]
    return "\n".join([*rows, counts_text(found)])


def counts_text(found: Comparison) -> str:
    """Say how many there are of each class."""
    told = [f"{count} {kind}" for kind, count in found.counts.items() if count]
    return ", ".join(told) if told else "no resources are declared"


def plan_rows(found: Comparison) -> list[dict[str, Any]]:
    """Return what would have to be done, resource by resource."""
    return [
        {
            "name": each.name,
            "action": ACTIONS[each.kind],
            "class": each.kind,
            "reason": each.reason or ACTION_MEANINGS[ACTIONS[each.kind]],
            "op": each.op,
        }
        for each in found.findings
    ]


def plan_text(rows: list[dict[str, Any]], env: str) -> str:
    """Return the plan for people, with the line that runs the Op of each."""
    if not rows:
        return "no resources are declared"
    shown = [
        (row["action"], row["name"], _how(row, env)) for row in rows if row["action"] != "none"
    ]
    if not shown:
        return f"nothing to do, as it should be: {counted(len(rows), 'resource')}"
    return "\n".join(columns(shown))


def _how(row: dict[str, Any], env: str) -> str:
    runs = row["op"] and row["action"] in {"create", "update"}
    return f"{row['reason']}; chant run {row['op']} --env {env}" if runs else str(row["reason"])


def _changes(finding: Finding) -> Iterator[str]:
    said = "declared" if finding.against == "declaration" else "was"
    for each in finding.changes:
        wanted, found = shown_value(each.wanted), shown_value(each.found)
        yield f"{each.fact}: {said} {wanted}, is {found}"
