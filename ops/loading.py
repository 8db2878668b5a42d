"""Finding and reading the Ops of a project.  Data only: nothing of the project is ever run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ops.errors import OpInvalid, OpNotFound, unknown
from ops.findings import Problem
from ops.op_file import read_op
from ops.toml_file import read_table
from ops.tree_walk import walk_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.model import Op
    from ops.project import Project

SUFFIX = ".op.toml"
PYTHON_SUFFIX = "_op.py"


@dataclass(frozen=True, slots=True)
class Catalog:
    """The Ops of a project by name, and what is wrong with files that gave none."""

    project: Project
    ops: Mapping[str, Op] = field(default_factory=dict[str, "Op"])
    problems: tuple[Problem, ...] = ()
    broken: Mapping[str, tuple[Problem, ...]] = field(
        default_factory=dict[str, "tuple[Problem, ...]"]
    )
    """Names that no Op could be made of (as declared, or after the file), with the reasons."""

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
            raise OpNotFound(unknown("op", name, self.ops) + hint)
        return self.ops[name]


def load_catalog(project: Project) -> Catalog:
    """Read every Op file of the project.  A broken one never hides the others."""
    ops: dict[str, Op] = {}
    broken: dict[str, list[Problem]] = {}
    problems: list[Problem] = []
    for file in op_files(project, problems):
        op, name, found = _load(project, file)
        if op is not None and op.name not in ops and op.name not in broken:
            ops[op.name] = op
            continue
        if op is not None:
            found = _same_name(op, ops.pop(op.name, None), broken)
        problems += found
        broken.setdefault(name, []).extend(found)
    reasons = {name: tuple(found) for name, found in broken.items()}
    return Catalog(project, dict(sorted(ops.items())), tuple(problems), reasons)


def op_files(project: Project, problems: list[Problem]) -> Iterator[str]:
    """Yield the project's Op files, relative to it, in a stable order; links are not followed.

    What could not be looked at is added to ``problems``.
    """
    suffixes = (SUFFIX, PYTHON_SUFFIX) if project.python_ops else (SUFFIX,)
    return walk_files(project.root, suffixes, problems)


def _load(project: Project, file: str) -> tuple[Op | None, str, list[Problem]]:
    """Return the Op (None when there are problems) and the name it is known by."""
    stem = os.path.basename(file).removesuffix(SUFFIX).removesuffix(PYTHON_SUFFIX)
    if file.endswith(PYTHON_SUFFIX):
        reason = "Ops written in Python are not supported by this version; use a .op.toml file"
        return None, stem, [Problem(file, 1, reason)]
    table, findings = read_table(project.root, file)
    op = read_op(table) if table is not None else None
    name = op.name if op and op.name else stem
    return (None if findings.problems else op), name, sorted(findings.problems)


def _same_name(op: Op, other: Op | None, broken: Mapping[str, list[Problem]]) -> list[Problem]:
    """Name both files; neither of the two is the right one, so neither may run."""
    line = op.source.lines.line(("name",)) if op.source else 1
    first = other.file if other else broken[op.name][0].file
    return [Problem(op.file, line, f"op {op.name!r} is also declared in {first}")]
