"""``chant describe NAME``: one Op, resource, steward or point, resolved for an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from runtimes.chant.verbs.flags import ENV
from runtimes.chant.verbs.verb import (
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Param,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.loading import Catalog
    from ops.resources.resource import Resource
    from runtimes.chant.place import Place


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Show everything that has the name; an Op and a resource may share one."""
    from ops.errors import OpNotFound, unknown
    from ops.loading import load_catalog
    from ops.resources.resource import load_resources
    from runtimes.chant.place import place_of
    from runtimes.chant.planning import given_params
    from runtimes.chant.points_shown import point_document
    from runtimes.chant.stewards_shown import steward_document

    place, name = place_of(invocation, around), invocation.param("NAME")
    project = place.project
    catalog, resources = load_catalog(project), load_resources(project).resources
    found: list[dict[str, Any]] = []
    if name in catalog.ops or name in catalog.broken:
        given = given_params(invocation.values("--param"))
        found.append(_op(catalog, name, place, given, around.environ))
    if name in resources:
        found.append(_resource(resources[name]))
    if name in project.stewards:
        found.append({"kind": "steward", **steward_document(project, project.stewards[name])})
    points = catalog.points.points
    if name in points:
        found.append(point_document(points[name]))
    if not found:
        known = {*catalog.ops, *catalog.broken, *resources, *project.stewards, *points}
        raise OpNotFound(unknown("name", name, known))
    text = "\n".join(line for each in found for line in _lines(each, ""))
    return Outcome(OK, {"name": name, "env": place.env, "found": found}, text)


def _op(
    catalog: Catalog,
    name: str,
    place: Place,
    given: Mapping[str, str],
    environ: Mapping[str, str],
) -> dict[str, Any]:
    from ops.checking import check_op
    from ops.params import known_params
    from ops.plan import plan_with
    from runtimes.chant.verbs.run import plan_document

    op = catalog.find(name)
    problems = [str(problem) for problem in check_op(op, catalog)]
    shown: dict[str, Any] = {
        "kind": "op",
        "file": op.file,
        "labels": dict(op.labels),
        "depends": list(op.depends),
        "environments": list(op.environments),
        "problems": problems,
    }
    if problems:
        return {**shown, "overview": op.overview}
    params, needs = known_params({**catalog.project.params, **op.params}, given, environ)
    plan = plan_with(op, catalog.project, place.env, params)
    return {**shown, "needs": needs, **plan_document(plan)}


def _resource(resource: Resource) -> dict[str, Any]:
    return {
        "kind": "resource",
        "reader": resource.reader.name,
        "keys": dict(resource.keys),
        "expect": resource.expect,
        "description": resource.description,
        "environments": list(resource.environments),
        "op": resource.op,
        "timeout_s": resource.timeout_s,
        "file": resource.file,
        "line": resource.line,
    }


def _lines(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    from runtimes.chant.columns import shown_value

    for name, member in value.items():
        if member in (None, "", [], {}):
            continue
        listed: object = member
        items = cast("list[object]", listed) if isinstance(listed, list) else [listed]
        if isinstance(items[0], dict):
            yield f"{indent}{name}:"
            mark = "- " if isinstance(listed, list) else ""
            for item in items:
                lead = mark
                for line in _lines(cast("dict[str, Any]", item), ""):
                    yield f"{indent}  {lead}{line}"
                    lead = " " * len(mark)
        else:
            yield f"{indent}{name}: {', '.join(map(shown_value, items))}"


DESCRIBE = Verb(
    path=("describe",),
    summary="Show one Op, resource, steward or point, resolved for an environment",
    handler=answer,
    document=(
        '{"name", "env", "found": [{"kind": "op", "file", "labels", "depends", "environments",'
        ' "problems", and without problems "needs" (parameters without a value) and all of run'
        ' --plan} or {"kind": "resource", "reader", "keys", "expect", "description",'
        ' "environments", "op", "timeout_s", "file", "line"} or {"kind": "steward", and all of'
        ' steward show} or {"kind": "point", "title", "question": {"type", "instructions",'
        ' "answers"}, "capability", "inputs", "deciders" (as declared, people last), "file"}]}'
    ),
    params=(Param("NAME", "the name of an Op, a resource, a steward or a point, see chant list"),),
    own_flags=(
        Flag("--param", "a parameter of the Op, may be given for each", "NAME=VALUE", many=True),
        ENV,
    ),
    exit_codes=(OK, USAGE, REFUSED),
)
