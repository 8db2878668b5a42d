"""What ``chantry faults`` prints: the points where faults may be injected, and a look at plans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from actors.fault_plan import PlanInvalid
from runtimes.fault_file import read_plan
from runtimes.fault_points import all_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def point_lines() -> Iterator[str]:
    """Yield a line for each point: its name, what is about to happen there, what can go wrong."""
    points = all_points().values()
    width = max(len(each.name) for each in points)
    for each in points:
        yield f"{each.name:{width}}  {each.about}  [{' '.join(each.can)}]"


def points_document() -> str:
    """Return the same as JSON."""
    return json.dumps(
        [
            {"name": each.name, "about": each.about, "can": list(each.can)}
            for each in all_points().values()
        ],
        indent=2,
    )


def check_lines(paths: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield for each plan whether it can work, and what it does or why not."""
    for path in paths:
        try:
            plan = read_plan(path, all_points())
        except PlanInvalid as error:
            yield False, str(error)
        else:
            yield True, f"{path}: {plan.about or plan.name} (faults: {len(plan.faults)})"
