"""``chant workspace points ask POINT``: put a question to its table, or else to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.verb import (
    OK,
    REFUSED,
    USAGE,
    WAITING,
    Flag,
    Invocation,
    Outcome,
    Param,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from ops.points import Point
    from ops.points_ledger import Kept, PointLedger


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Ask what was not asked before; a model is called only by a run in a steward's turn."""
    from ops.errors import ParamInvalid
    from ops.points_book import is_open
    from ops.points_file import load_points
    from ops.points_ledger import PointLedger
    from ops.project import find_project
    from runtimes.chant.place import ledger_of
    from runtimes.chant.planning import given_params
    from runtimes.chant.questions_shown import kept_document, question_text

    project = find_project(around.cwd)
    point = load_points(project.root).find(invocation.param("POINT"))
    given = given_params(invocation.values("--input"), "--input")
    lacking = [name for name in point.inputs if name not in given]
    if lacking and set(given) <= set(point.inputs):
        flags = " ".join(f"--input {name}=VALUE" for name in lacking)
        msg = f"point {point.name!r} needs {', '.join(lacking)}: {flags}"
        raise ParamInvalid(msg)
    inputs = point.typed(given)
    questions = PointLedger(ledger_of(project, stop=around.cancel))
    kept = _asked(questions, point, inputs, project.root, around)
    warnings = tuple(f"warning: {each}" for each in kept.warnings)
    code = WAITING if is_open(kept.record) else OK
    text = question_text(kept.record)
    return Outcome(code, kept_document(kept), text, warnings, is_answer=True)


def _asked(
    questions: PointLedger, point: Point, inputs: dict[str, Any], root: str, around: Surroundings
) -> Kept:
    import time

    from ops.facts import run_facts
    from ops.points_asking import people_only
    from ops.points_book import Asker
    from ops.points_ledger import Kept
    from ops.step_env import channel_of
    from ops.stewards import steward_of

    late = questions.refresh()
    known = questions.find(point.question_id(inputs))
    if known is not None:
        return Kept(known, warnings=late)
    asker = Asker(
        channel_of(around.environ),
        actor=run_facts(root, around.environ).actor,
        steward=steward_of(around.environ),
    )
    kept = questions.keep(people_only(point, inputs, asker, time.time()))
    return Kept(kept.record, kept.pushed, (*late, *kept.warnings))


WORKSPACE_POINTS_ASK = Verb(
    path=("workspace", "points", "ask"),
    summary="Ask a decision point: its table answers, or else people are asked",
    handler=answer,
    document='the question, as one of workspace points, and "pushed"',
    params=(Param("POINT", "the point's name, declared in points/*.toml"),),
    own_flags=(Flag("--input", "an input of the point", "NAME=VALUE", many=True),),
    exit_codes=(OK, USAGE, WAITING, REFUSED),
)
