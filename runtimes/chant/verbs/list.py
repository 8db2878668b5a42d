"""``chant list``: the Ops of the project, and the files that hold none although they should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.verb import OK, REFUSED, USAGE, Invocation, Outcome, Surroundings, Verb

if TYPE_CHECKING:
    from ops.loading import Catalog
    from ops.model import Op


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Look for Ops from the working directory's project downward."""
    del invocation
    from ops.loading import load_catalog
    from ops.project import find_project

    catalog = load_catalog(find_project(around.cwd))
    warnings = tuple(f"warning: {problem}" for problem in catalog.problems)
    return Outcome(OK, _document(catalog), _text(catalog), warnings)


def _document(catalog: Catalog) -> dict[str, Any]:
    return {
        "project": catalog.project.name,
        "root": catalog.project.root,
        "ops": [_op(op) for _, op in sorted(catalog.ops.items())],
        "problems": [
            {"file": problem.file, "line": problem.line, "reason": problem.reason}
            for problem in catalog.problems
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


def _text(catalog: Catalog) -> str:
    if not catalog.ops:
        return f"no Ops in {catalog.project.root}: they are declared in files named *.op.toml"
    width = max(map(len, catalog.ops))
    return "\n".join(
        f"{name:<{width}}  {op.overview}".rstrip() for name, op in sorted(catalog.ops.items())
    )


LIST = Verb(
    path=("list",),
    summary="List the Ops of the project",
    handler=answer,
    document=(
        '{"project", "root", "ops": [{"name", "overview", "file", "environments", "params",'
        ' "phases", "steps"}], "problems": [{"file", "line", "reason"}]}'
    ),
    exit_codes=(OK, USAGE, REFUSED),
)
