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
    from runtimes.chant.finding_runs import known_op, runs_of, to_run, unfinished
    from runtimes.chant.place import ledger_of, limit_of, place_of
    from runtimes.chant.runs_shown import runs_text

    place, op = place_of(invocation, around), invocation.param("OP") or None
    limit, ledger = limit_of(invocation, DEFAULT_LIMIT), ledger_of(place.project)
    found = ledger.recent(place.env, limit, op)
    if op and not found.records:
        known_op(place, ledger, op)
    text = "\n".join(runs_text(found.records))
    if op and not text:
        text = unfinished(place, op, running=runs_of(place, ledger, op))
    text = text or f"no finished runs in {place.env}; {to_run(place, 'OP')}"
    damaged = f"warning: {found.damaged} lines of the ledger can't be read"
    document = {"env": place.env, "op": op, "runs": list(found.records), "damaged": found.damaged}
    return Outcome(OK, document, text, (damaged,) if found.damaged else ())


RUN_LOG = Verb(
    path=("run", "log"),
    summary="List the last runs of an Op, or of all, newest first",
    handler=answer,
    document='{"env", "op" (or null), "runs": [records as the ledger keeps them], "damaged"}',
    params=(Param("OP", "only this Op's", required=False),),
    own_flags=(LIMIT, ENV),
    exit_codes=(OK, USAGE, REFUSED),
)
