"""``chant run log``: the last runs of an Op, or of all, newest first."""

from __future__ import annotations

from runtimes.chant.verbs.flags import DEFAULT_LIMIT, ENV, LIMIT
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
    """Read as much of the ledger's end as was asked for."""
    from runtimes.chant.finding_runs import known_op, last_runs, runs_of, to_run, unfinished
    from runtimes.chant.place import ledger_of, limit_of, place_of
    from runtimes.chant.runs_shown import runs_text

    place, op = place_of(invocation, around), invocation.param("OP") or None
    limit, ledger = limit_of(invocation, DEFAULT_LIMIT), ledger_of(place.project)
    runs, damaged = last_runs(place, ledger, limit, op)
    if op and not runs:
        known_op(place, ledger, op)
    text = "\n".join(runs_text(runs))
    if op and not text:
        text = unfinished(place, op, running=runs_of(place, ledger, op))
    text = text or f"no finished runs in {place.env}; {to_run(place, 'OP')}"
    warning = f"warning: {damaged} lines of the ledger can't be read"
    document = {"env": place.env, "op": op, "runs": runs, "damaged": damaged}
    return Outcome(OK, document, text, (warning,) if damaged else (), is_table=True)


RUN_LOG = Verb(
    path=("run", "log"),
    summary="List the last runs of an Op, or of all, newest first",
    handler=answer,
    document='{"env", "op" (or null), "runs": [records as the ledger keeps them], "damaged"}',
    params=(Param("OP", "only this Op's", required=False),),
    own_flags=(LIMIT, ENV),
    exit_codes=(OK, USAGE, REFUSED),
)
