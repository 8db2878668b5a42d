"""``chant run status OP``: the newest run of an Op, step by step."""

from __future__ import annotations

from runtimes.chant.verbs.flags import ENV
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
    """Show the last record, and the runs of the Op that go on right now."""
    from runtimes.chant.finding_runs import known_op, newest_run, runs_of, unfinished
    from runtimes.chant.place import ledger_of, place_of
    from runtimes.chant.runs_shown import run_row, run_text

    place, op = place_of(invocation, around), invocation.param("OP")
    ledger = ledger_of(place.project)
    newest = newest_run(place, ledger, op)
    living = runs_of(place, ledger, op)
    if newest is None and not living:
        known_op(place, ledger, op)
    running = [{**run_row(each.record), "host": each.host, "pid": each.pid} for each in living]
    lines = [
        f"{op} is running on {each['host']}, process {each['pid']}, run {each['id']}"
        for each in running
    ]
    if newest:
        lines.append(run_text(newest))
    elif not living:
        lines.append(unfinished(place, op, running=()))
    document = {"op": op, "env": place.env, "newest": newest, "running": running}
    return Outcome(OK, document, "\n".join(lines), is_table=True)


RUN_STATUS = Verb(
    path=("run", "status"),
    summary="Show the newest run of an Op, step by step",
    handler=answer,
    document=('{"op", "env", "newest": the run\'s record or null, "running": [as of run list]}'),
    params=(Param("OP", "the Op's name, see chant run list"),),
    own_flags=(ENV,),
    exit_codes=(OK, USAGE, REFUSED),
)
