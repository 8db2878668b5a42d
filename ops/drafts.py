"""Ops that can't be made of their files: what else is wrong with them, told at once.

A value that could not be read stands in a draft as its default, and a step may be missing.  So
only what does not depend on other places is judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ops.checking import check_draft

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ops.findings import Problem
    from ops.loading import Catalog
    from ops.model import Op


def with_drafts(catalog: Catalog, drafts: Iterable[tuple[str, Op]]) -> Catalog:
    """Add what ``drafts`` (name and Op, among the broken) name in vain."""
    problems, broken = [*catalog.problems], {**catalog.broken}
    for name, op in drafts:
        told = {each.line for each in problems if each.file == op.file}
        found = check_draft(op, catalog, told)
        broken[name] = tuple(sorted({*broken[name], *found}))
        problems = _among(problems, found)
    return replace(catalog, problems=tuple(problems), broken=broken)


def _among(problems: list[Problem], found: Sequence[Problem]) -> list[Problem]:
    """Put findings to the others of their file, by line."""
    if not found:
        return problems
    file = found[0].file
    first = next(at for at, each in enumerate(problems) if each.file == file)
    own = sorted({*found, *(each for each in problems if each.file == file)})
    rest = [each for each in problems if each.file != file]
    return [*rest[:first], *own, *rest[first:]]
