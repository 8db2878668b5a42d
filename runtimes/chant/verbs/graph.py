"""``chant graph``: what depends on what, or the steps of one Op, in several notations."""

from __future__ import annotations

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

FORMATS = ("text", "json", "mermaid", "dot")


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Draw the project, or one Op."""
    from ops.errors import ParamInvalid, unknown
    from ops.graph import op_graph, project_graph
    from ops.loading import load_catalog
    from ops.project import find_project
    from ops.resources.resource import load_resources
    from runtimes.chant import graph_text
    from runtimes.chant.json_text import json_page

    asked = invocation.value("--format") or "text"
    if asked not in FORMATS:
        raise ParamInvalid(unknown("format", asked, FORMATS))
    project = find_project(around.cwd)
    catalog, declared = load_catalog(project), load_resources(project)
    name = invocation.param("OP")
    graph = op_graph(catalog.find(name)) if name else project_graph(catalog, declared.resources)
    document = graph_text.graph_document(graph)
    match asked:
        case "mermaid":
            text = graph_text.mermaid(graph)
        case "dot":
            text = graph_text.dot(graph)
        case "json":
            text = json_page(document).rstrip("\n")
        case _:
            text = graph_text.graph_lines(graph)
    problems = (*catalog.problems, *declared.problems)
    warnings = tuple(f"warning: {problem}" for problem in problems)
    return Outcome(OK, {**document, "format": asked, "text": text}, text, warnings)


GRAPH = Verb(
    path=("graph",),
    summary="Draw what depends on what, or the steps of one Op",
    handler=answer,
    document=(
        '{"nodes": [{"key", "kind" (op, resource, steward, gate, point, step), "name", "group"'
        ' (a step\'s phase)}], "edges": [{"from", "to", "kind"}], "format", "text"}'
    ),
    params=(Param("OP", "draw the steps of this Op", required=False),),
    own_flags=(Flag("--format", "text, json, mermaid or dot; text when absent", "FORMAT"),),
    exit_codes=(OK, USAGE, REFUSED),
)
