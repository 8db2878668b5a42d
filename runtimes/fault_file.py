"""Reading a fault plan from a TOML file; every mistake has its line and the known names."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

from actors.fault_plan import (
    FIELDS,
    GARBAGE,
    INVARIANTS,
    FaultPlan,
    PlanInvalid,
    PlannedFault,
    mistakes_of,
    unknown,
)
from ops.toml_file import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from actors.fault_plan import Behind, Place
    from actors.faults import FaultKind, Point
    from ops.findings import Table


def read_plan(path: str, points: Mapping[str, Point]) -> FaultPlan:
    """Read the plan at ``path``, for code that has ``points``.

    Raises:
        PlanInvalid: It can't be read or has mistakes; one line each, with file and line.

    """
    table, findings = read_table("", path)
    plan = FaultPlan(faults=())
    if table is not None:
        plan = _plan(table, os.path.splitext(os.path.basename(path))[0], points)
        table.close()
    if findings.problems:
        raise PlanInvalid("\n".join(str(problem) for problem in sorted(findings.problems)))
    return plan


def _plan(table: Table, name: str, points: Mapping[str, Point]) -> FaultPlan:
    entries = table.tables("fault", "fault")
    if not entries:
        table.problem("fault", "a plan needs at least one [[fault]]")
    suspends = table.texts("suspends")
    for each in suspends:
        if each not in INVARIANTS:
            table.problem("suspends", f"unknown invariant {unknown(each, INVARIANTS)}")
    return FaultPlan(
        name=table.text("name", name),
        about=table.text("about"),
        seed=table.whole("seed", 0),
        suspends=suspends,
        faults=tuple(_fault(entry, points) for entry in entries),
    )


def _fault(entry: Table, points: Mapping[str, Point]) -> PlannedFault:
    kind = cast("FaultKind", entry.text("fault", required=True))
    known = len(entry.findings.problems)
    fault = PlannedFault(
        point=entry.text("point", required=True),
        fault=kind,
        who=entry.text("who", "*"),
        hit=_whole(entry, "hit"),
        probability=_number(entry, "probability"),
        times=_whole(entry, "times"),
        seconds=_number(entry, "seconds"),
        errno=entry.text("errno", "EIO"),
        code=entry.whole("code", 1),
        behind=_behind(entry),
        text=entry.text("text", GARBAGE),
        place=cast("Place", entry.text("place", "before")),
    )
    for key, kinds in FIELDS.items():
        if key in entry.values and kind not in kinds:
            entry.problem(key, f"{key} is for {' and '.join(kinds)}, not for {kind}")
    if len(entry.findings.problems) == known and {"point", "fault"} <= entry.values.keys():
        for key, reason in mistakes_of(fault, points):
            entry.problem(key, reason)
    entry.close()
    return fault


def _whole(entry: Table, key: str) -> int | None:
    return entry.whole(key, 1, least=1) if key in entry.values else None


def _behind(entry: Table) -> Behind:
    if entry.values.get("behind") == "answer":
        return cast("Behind", entry.text("behind"))
    return entry.whole("behind", 1)


def _number(entry: Table, key: str) -> float | None:
    return entry.number(key, 0) if key in entry.values else None


def plan_text(plan: FaultPlan) -> str:
    """Return the file of a plan that was made in Python."""
    lines = [f"seed = {plan.seed}", f"name = {_toml(plan.name)}", f"about = {_toml(plan.about)}"]
    lines.append(f"suspends = [{', '.join(map(_toml, plan.suspends))}]")
    for fault in plan.faults:
        lines += ["", "[[fault]]", f"point = {_toml(fault.point)}", f"fault = {_toml(fault.fault)}"]
        lines += [f"{key} = {_toml(value)}" for key, value in _given(fault)]
    return "\n".join(lines) + "\n"


def _given(fault: PlannedFault) -> Iterator[tuple[str, str | float]]:
    """Yield the fields that are neither absent nor for other faults."""
    for key in ("who", "hit", "probability", "times", *FIELDS):
        value: str | float | None = getattr(fault, key)
        if value is not None and fault.fault in FIELDS.get(key, (fault.fault,)):
            yield key, value


def _toml(value: str | float) -> str:
    # JSON's texts are TOML's, but for the one control character that JSON leaves as it is.
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return text.replace("\x7f", "\\u007f")
