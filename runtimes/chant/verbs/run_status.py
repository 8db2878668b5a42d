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
    from ops.in_flight import InFlight
    from runtimes.chant.finding_runs import known_op
    from runtimes.chant.place import ledger_of, place_of
    from runtimes.chant.runs_shown import run_row, run_text

    place, op = place_of(invocation, around), invocation.param("OP")
    ledger = ledger_of(place.project)
    newest = ledger.newest(place.env, op)
    living = [
        each
        for each in InFlight(ledger.state_dir).living()
        if (each.record.get("op"), each.record.get("env")) == (op, place.env)
    ]
    if newest is None and not living:
        known_op(place, ledger, op)
    running = [{**run_row(each.record), "host": each.host, "pid": each.pid} for each in living]
    lines = [
        f"{op} is running on {each['host']}, process {each['pid']}, run {each['id']}"
        for each in running
    ]
    lines.append(run_text(newest) if newest else f"{op} has no finished run in {place.env}")
    document = {"op": op, "env": place.env, "newest": newest, "running": running}
    return Outcome(OK, document, "\n".join(lines))


RUN_STATUS = Verb(
    path=("run", "status"),
    summary="Show the newest run of an Op, step by step",
    handler=answer,
    document=('{"op", "env", "newest": the run\'s record or null, "running": [as of run list]}'),
    params=(Param("OP", "the Op's name, see chant run list"),),
    own_flags=(ENV,),
    exit_codes=(OK, USAGE, REFUSED),
)
