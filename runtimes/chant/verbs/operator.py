"""``chant operator``: run a steward's scheduled Ops for as long as the process lives."""

from __future__ import annotations

from runtimes.chant.verbs.verb import (
    CANCELLED,
    FAILED,
    OK,
    REFUSED,
    USAGE,
    WAITING,
    Flag,
    Invocation,
    NotInPrompts,
    Outcome,
    Surroundings,
    Verb,
)

ONCE = Flag("--once", "give every scheduled Op its turn now, then end")


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Operate until the end."""
    from runtimes.chant.operator.operate import operate

    return operate(invocation.value("--steward"), around, once=invocation.on(ONCE.name))


OPERATOR = Verb(
    path=("operator",),
    summary="Run a steward's scheduled Ops one at a time, until told to end",
    handler=answer,
    document=(
        '{"steward", "env", "runs": [the last of each Op: {"op", "status", "run_id", "reason"}],'
        ' "waiting": {OP: what it waits on}}, at the end'
    ),
    own_flags=(
        Flag("--steward", "whose schedule; may be left out where only one is declared", "NAME"),
        ONCE,
    ),
    exit_codes=(OK, FAILED, USAGE, WAITING, REFUSED, CANCELLED),
    in_prompts=NotInPrompts("it would not end; with --once it does", unless=ONCE.name),
)
