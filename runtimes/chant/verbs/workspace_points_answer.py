"""``chant workspace points answer ID``: answer an open question."""

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


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Record what people say."""
    from ops.errors import ParamInvalid
    from ops.gates import run_command
    from ops.points_book import is_open
    from ops.points_ledger import PointLedger
    from runtimes.chant.answer_point import refuse_steward, voices
    from runtimes.chant.place import Premises
    from runtimes.chant.questions_shown import kept_document, missing

    question_id, value = invocation.param("ID"), invocation.value("--answer")
    refuse_steward(around.environ, question_id)
    premises = around.premises or Premises()
    project = premises.project(around.cwd)
    who = voices(invocation.values("--by"), project, around.environ)
    if value is None:
        message = "--answer needs the answer"
        raise ParamInvalid(message)
    questions = PointLedger(premises.ledger(project).heeding(around.cancel))
    note = invocation.value("--note") or ""
    kept = questions.answer(question_id, who, value, note, premises.wall())
    record, warnings = kept.record, tuple(f"warning: {each}" for each in kept.warnings)
    if is_open(record):
        text = f"{question_id} is open still: {missing(record)}"
    else:
        text = f"{question_id} is answered: {record['answer']}, by {', '.join(record['by'])}"
        asked = record["asked"]
        if asked["op"]:
            text += f"\nnext: {run_command(asked['op'], asked['env'], asked.get('params'))}"
    return Outcome(OK, kept_document(kept), text, warnings)


WORKSPACE_POINTS_ANSWER = Verb(
    path=("workspace", "points", "answer"),
    summary="Answer a question that a decision point asked",
    handler=answer,
    document='the question, as one of workspace points, and "pushed"',
    params=(Param("ID", "the question's id, see chant workspace points"),),
    own_flags=(
        Flag("--answer", "the answer, one of the possible ones", "V"),
        Flag("--by", "who says so; may be given for each of several people", "NAME", many=True),
        Flag("--note", "why, kept with the answer", "TEXT"),
    ),
    exit_codes=(OK, USAGE, REFUSED),
)
