"""``chant workspace points``: the questions that were asked, and how they stand."""

from __future__ import annotations

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


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Read the ledger."""
    from ops.points_ledger import PointLedger
    from ops.project import find_project
    from runtimes.chant.place import ledger_of
    from runtimes.chant.questions_shown import question_document, question_text

    project = find_project(around.cwd)
    questions = PointLedger(ledger_of(project))
    only_open = invocation.on("--open")
    records, damaged = questions.open() if only_open else questions.every()
    document = {
        "project": project.name,
        "questions": [question_document(each) for each in records],
        "damaged": damaged,
    }
    none = "no open questions" if only_open else "no questions were asked yet"
    text = "\n".join(question_text(each) for each in records) or none
    return Outcome(OK, document, text, tuple(f"warning: {each}" for each in damaged))


WORKSPACE_POINTS = Verb(
    path=("workspace", "points"),
    summary="List the questions that decision points asked, and their answers",
    handler=answer,
    document=(
        '{"project", "questions": [{"id", "point", "title", "question", "candidates", "inputs",'
        ' "state": "escalated"|"proposed"|"answered", "answer", "by", "proposal", "quorum",'
        ' "votes", "deciders", "asked", "answered_at", "history", "line": what answers it}],'
        ' "damaged": [what could not be read]}'
    ),
    own_flags=(Flag("--open", "only those that wait for people"),),
    exit_codes=(OK, USAGE, REFUSED),
)
