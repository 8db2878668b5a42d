"""``chant run list``: every Op with its newest run, and what runs right now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.flags import ENV
from runtimes.chant.verbs.verb import OK, REFUSED, USAGE, Invocation, Outcome, Surroundings, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Read the newest lines of the ledger; Ops that never ran are listed, too."""
    from ops.in_flight import InFlight
    from ops.loading import load_catalog
    from runtimes.chant.finding_runs import newest_runs
    from runtimes.chant.place import ledger_of, place_of
    from runtimes.chant.runs_shown import run_row

    place = place_of(invocation, around)
    ledger = ledger_of(place.project)
    newest = newest_runs(place, ledger)
    living = [
        {**run_row(each.record), "host": each.host, "pid": each.pid}
        for each in InFlight(ledger.state_dir).living()
        if each.record.get("env") == place.env
    ]
    declared = load_catalog(place.project).ops
    rows = [
        {
            "op": op,
            "declared": op in declared,
            "newest": run_row(newest[op]) if op in newest else None,
        }
        for op in sorted(newest.keys() | declared.keys())
    ]
    document = {"env": place.env, "ops": rows, "running": living}
    return Outcome(OK, document, _text(rows, newest, living), is_table=True)


def _text(
    rows: list[dict[str, Any]],
    newest: Mapping[str, Mapping[str, Any]],
    living: list[dict[str, Any]],
) -> str:
    from runtimes.chant.columns import columns, moment_text
    from runtimes.chant.runs_shown import status_text, took_text

    shown = [(row["op"], "running", moment_text(row["started"]), "", row["id"]) for row in living]
    for row in rows:
        if row["newest"] is None:
            shown.append((row["op"], "never run", "", "", ""))
            continue
        run = newest[row["op"]]
        started = moment_text(run.get("started"))
        shown.append((row["op"], status_text(run), started, took_text(run), run["id"]))
    return "\n".join(columns(shown)) or "no Ops are declared and none has run"


RUN_LIST = Verb(
    path=("run", "list"),
    summary="List the Ops with their newest runs, and what runs now",
    handler=answer,
    document=(
        '{"env", "ops": [{"op", "declared", "newest": null or {"id", "op", "status", "started",'
        ' "ended", "duration_ms", "actor", "origin", "steward", "compensation"}}],'
        ' "running": [the same, with "host" and "pid"]}'
    ),
    own_flags=(ENV,),
    exit_codes=(OK, USAGE, REFUSED),
)
