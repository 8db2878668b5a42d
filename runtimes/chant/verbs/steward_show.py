"""``chant steward show NAME``: one steward's declaration and what it waits on."""

from __future__ import annotations

from runtimes.chant.verbs.verb import (
    OK,
    REFUSED,
    USAGE,
    Invocation,
    Outcome,
    Param,
    Surroundings,
    Verb,
)


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Show one steward."""
    from ops.errors import OpNotFound, unknown
    from ops.project import find_project
    from runtimes.chant.stewards_shown import steward_document, steward_lines

    project, name = find_project(around.cwd), invocation.param("NAME")
    if name not in project.stewards:
        raise OpNotFound(unknown("steward", name, project.stewards))
    document = steward_document(project, project.stewards[name])
    return Outcome(OK, document, "\n".join(steward_lines(document)))


STEWARD_SHOW = Verb(
    path=("steward", "show"),
    summary="Show a steward's declaration and what it waits on",
    handler=answer,
    document="one of the stewards of steward list",
    params=(Param("NAME", "the steward's name, see chant steward list"),),
    exit_codes=(OK, USAGE, REFUSED),
)
