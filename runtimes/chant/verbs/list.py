"""``chant list``: the Ops of the project, and the files that hold none although they should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.verb import (
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from ops.loading import Catalog
    from ops.model import Op
    from ops.resources.resource import Declared


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Look for Ops from the working directory's project downward."""
    from ops.loading import load_catalog
    from ops.project import find_project
    from ops.resources.resource import load_resources

    catalog = load_catalog(find_project(around.cwd))
    declared = load_resources(catalog.project)
    problems = (*catalog.problems, *declared.problems)
    warnings = tuple(f"warning: {problem}" for problem in problems)
    names = invocation.on("--names")
    text = "\n".join(sorted(catalog.ops)) if names else _text(catalog, declared)
    document = _document(catalog, declared)
    return Outcome(OK, document, text, () if names else warnings, is_table=True)


def _document(catalog: Catalog, declared: Declared) -> dict[str, Any]:
    project = catalog.project
    return {
        "project": project.name,
        "root": project.root,
        "ops": [_op(op) for _, op in sorted(catalog.ops.items())],
        "resources": [
            {"name": each.name, "reader": each.reader.name, "file": each.file}
            for each in declared.resources.values()
        ],
        "stewards": [
            {"name": each.name, "environment": each.environment, "ops": list(each.ops)}
            for each in project.stewards.values()
        ],
        "points": [
            {"name": each.name, "title": each.title, "file": each.file}
            for each in catalog.points.points.values()
        ],
        "problems": [
            {"file": problem.file, "line": problem.line, "reason": problem.reason}
            for problem in (*catalog.problems, *declared.problems)
        ],
    }


def _op(op: Op) -> dict[str, Any]:
    return {
        "name": op.name,
        "overview": op.overview,
        "file": op.file,
        "environments": list(op.environments),
        "params": sorted(op.params),
        "phases": [phase.name for phase in op.phases],
        "steps": sum(len(phase.steps) for phase in op.phases),
    }


def _text(catalog: Catalog, declared: Declared) -> str:
    from runtimes.chant.columns import columns

    rows = [(name, op.overview) for name, op in sorted(catalog.ops.items())]
    lines = columns(rows) or [
        f"no Ops in {catalog.project.root}: files named *.op.toml declare them; chant init begins"
    ]
    others = {
        "resources": [(each.name, each.reader.name) for each in declared.resources.values()],
        "stewards": [(each.name, each.environment) for each in catalog.project.stewards.values()],
        "points": [(each.name, each.title) for each in catalog.points.points.values()],
    }
    for title, found in others.items():
        lines += [f"{title}:", *columns(found, "  ")] if found else []
    return "\n".join(lines)


LIST = Verb(
    path=("list",),
    summary="List the Ops, resources, stewards and points of the project",
    handler=answer,
    document=(
        '{"project", "root", "ops": [{"name", "overview", "file", "environments", "params",'
        ' "phases", "steps"}], "resources": [{"name", "reader", "file"}], "stewards": [{"name",'
        ' "environment", "ops"}], "points": [{"name", "title", "file"}], "problems": [{"file",'
        ' "line", "reason"}]}'
    ),
    own_flags=(Flag("--names", "only the names of the Ops, one a line"),),
    exit_codes=(OK, USAGE, REFUSED),
)
