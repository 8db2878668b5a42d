"""Finding and reading the Ops of a project.

Data only: nothing of the project is run, unless it allows Ops in Python; see `ops.python_ops`.
"""

from __future__ import annotations

import os
from dataclasses import field
from typing import TYPE_CHECKING

from ops.activities.table import ACTIVITIES
from ops.errors import OpInvalid, OpNotFound, unknown
from ops.findings import Problem
from ops.model import ActivityStep
from ops.op_file import read_op
from ops.points import Points
from ops.points_file import load_points
from ops.toml_file import read_table
from ops.tree_walk import walk_files
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ops.activities.activity import Activity
    from ops.findings import Findings, Table
    from ops.model import Op
    from ops.project import Project

SUFFIX = ".op.toml"
PYTHON_SUFFIX = "_op.py"
MAX_NAMED = 5
"""Files that a message names."""


@frozen
class Catalog:
    """The Ops of a project by name, and what is wrong with files that gave none."""

    project: Project
    ops: Mapping[str, Op] = field(default_factory=dict[str, "Op"])
    problems: tuple[Problem, ...] = ()
    broken: Mapping[str, tuple[Problem, ...]] = field(
        default_factory=dict[str, "tuple[Problem, ...]"]
    )
    """Names that no Op could be made of (as declared, or after the file), with the reasons."""
    unread: tuple[str, ...] = ()
    """Files that look like Ops in Python, where the project does not allow any."""
    activities: Mapping[str, Activity] = field(default_factory=dict[str, "Activity"])
    """The project's own; empty where no Op asks for any."""
    points: Points = field(default_factory=Points)
    """The decision points that Ops may ask; what is wrong with their files is in ``problems``."""

    def find(self, name: str) -> Op:
        """Return the Op called ``name``.

        Raises:
            OpInvalid: Its file is broken, or two files claim the name.
            OpNotFound: Nothing has that name; the message lists what there is.

        """
        if name in self.broken:
            raise OpInvalid("\n".join(map(str, self.broken[name])))
        if name not in self.ops:
            hint = "".join(f"\n{problem}" for problem in self.problems)
            if not self.ops and not hint:
                hint = f" in {self.project.root}; chant init begins a project"
            if self.unread:
                files = ", ".join(self.unread[:MAX_NAMED])
                hint += f"\nnot read, as chant.toml does not say python_ops = true: {files}"
            raise OpNotFound(unknown("op", name, self.ops) + hint)
        return self.ops[name]


def load_catalog(project: Project) -> Catalog:
    """Read every Op file of the project.  A broken one never hides the others."""
    ops: dict[str, Op] = {}
    broken: dict[str, list[Problem]] = {}
    drafts: list[tuple[str, Op]] = []
    problems: list[Problem] = []
    toml, python = op_files(project, problems)
    for file, table, findings in _tables(project, toml, python):
        draft, name, found = _load(file, table, findings)
        op = None if found else draft
        if draft is not None and found:
            drafts.append((name, draft))
        if op is not None and op.name not in ops and op.name not in broken:
            ops[op.name] = op
            continue
        if op is not None:
            found = _same_name(op, ops.pop(op.name, None), broken)
        problems += found
        broken.setdefault(name, []).extend(found)
    reasons = {name: tuple(found) for name, found in broken.items()}
    unread = () if project.python_ops else tuple(python)
    points = load_points(project.root)
    problems += points.problems
    named = [*ops.values(), *(draft for _, draft in drafts)]
    bound, activities = _with_activities(dict(sorted(ops.items())), named, project, problems)
    catalog = Catalog(project, bound, tuple(problems), reasons, unread, activities, points)
    if not drafts:
        return catalog
    from ops.drafts import with_drafts

    return with_drafts(catalog, drafts)


def _with_activities(
    ops: dict[str, Op], named: Iterable[Op], project: Project, problems: list[Problem]
) -> tuple[dict[str, Op], dict[str, Activity]]:
    """Look for the project's own activities if one of ``named`` asks for one that is not ours."""
    phases = (phase for op in named for phase in (*op.phases, *op.on_failure))
    steps = [step for phase in phases for step in phase.steps if isinstance(step, ActivityStep)]
    if all(step.fn in ACTIVITIES for step in steps):
        return ops, {}
    from ops.project_activities import bound, project_activities

    found = project_activities(project)
    problems += found.problems
    return {name: bound(op, found.activities) for name, op in ops.items()}, found.activities


def op_files(project: Project, problems: list[Problem]) -> tuple[list[str], list[str]]:
    """Return the files of Ops in TOML and in Python, relative to the project, in a stable order.

    Links are not followed.  What could not be looked at is added to ``problems``.
    """
    found = list(walk_files(project.root, (SUFFIX, PYTHON_SUFFIX), problems))
    return [each for each in found if each.endswith(SUFFIX)], [
        each for each in found if each.endswith(PYTHON_SUFFIX)
    ]


def _tables(
    project: Project, toml: list[str], python: list[str]
) -> Iterator[tuple[str, Table | None, Findings]]:
    for file in toml:
        yield file, *read_table(project.root, file)
    if project.python_ops and python:
        from ops.python_ops import read_python_ops

        for file, read in read_python_ops(project.root, python).items():
            yield file, *read


def _load(
    file: str, table: Table | None, findings: Findings
) -> tuple[Op | None, str, list[Problem]]:
    """Return the Op, a draft when there are problems, and the name it is known by."""
    op = read_op(table) if table is not None else None
    name = op.name if op and op.name else _stem(file)
    return op, name, sorted(findings.problems)


def _stem(file: str) -> str:
    """Return the name that an Op of this file would most likely have."""
    name = os.path.basename(file)
    if name.endswith(PYTHON_SUFFIX):
        return name.removesuffix(PYTHON_SUFFIX).replace("_", "-")
    return name.removesuffix(SUFFIX)


def _same_name(op: Op, other: Op | None, broken: Mapping[str, list[Problem]]) -> list[Problem]:
    """Name both files; neither of the two is the right one, so neither may run."""
    line = op.source.lines.line(("name",)) if op.source else 1
    first = other.file if other else broken[op.name][0].file
    return [Problem(op.file, line, f"op {op.name!r} is also declared in {first}")]
