"""``chant workspace points retract ID``: take an answer back; the question is open again."""

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
    """Open the question again; what was said is kept in its history."""
    import time

    from ops.points_book import fact_of
    from ops.points_ledger import PointLedger
    from ops.project import find_project
    from runtimes.chant.answer_point import refuse_steward, voices
    from runtimes.chant.place import ledger_of
    from runtimes.chant.questions_shown import kept_document
    from runtimes.chant.wording import answer_line

    question_id = invocation.param("ID")
    refuse_steward(around.environ, question_id)
    project = find_project(around.cwd)
    by = invocation.value("--by")
    (who,) = voices([] if by is None else [by], project, around.environ)
    questions = PointLedger(ledger_of(project, stop=around.cancel))
    note = invocation.value("--note") or ""
    kept = questions.retract(question_id, who, note, time.time())
    warnings = tuple(f"warning: {each}" for each in kept.warnings)
    line = answer_line(fact_of(kept.record))
    text = f"{question_id} is open again, retracted by {who.name}\nnext: {line}"
    return Outcome(OK, kept_document(kept), text, warnings)


WORKSPACE_POINTS_RETRACT = Verb(
    path=("workspace", "points", "retract"),
    summary="Take back what was answered; the question is open again",
    handler=answer,
    document='the question, as one of workspace points, and "pushed"',
    params=(Param("ID", "the question's id, see chant workspace points"),),
    own_flags=(
        Flag("--by", "who takes it back", "NAME"),
        Flag("--note", "why, kept in the question's history", "TEXT"),
    ),
    exit_codes=(OK, USAGE, REFUSED),
)
