"""``chant lifecycle log``: the snapshots of an environment, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.flags import DEFAULT_LIMIT, ENV, ENV_PARAM, LIMIT
from runtimes.chant.verbs.verb import OK, REFUSED, USAGE, Invocation, Outcome, Surroundings, Verb

if TYPE_CHECKING:
    from ops.snapshot import Snapshot


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """List snapshots."""
    from ops.counts import counted
    from ops.snapshots import last_snapshots
    from runtimes.chant.columns import columns, moment_text
    from runtimes.chant.place import ledger_of, limit_of, place_of

    place = place_of(invocation, around)
    limit = limit_of(invocation, DEFAULT_LIMIT)
    rows = [_row(each) for each in last_snapshots(ledger_of(place.project), place.env, limit)]
    shown = [
        (
            moment_text(row["taken"]),
            row["name"],
            row["actor"],
            counted(row["resources"], "resource"),
        )
        for row in rows
    ]
    text = "\n".join(columns(shown)) or f"no snapshots of {place.env}"
    return Outcome(OK, {"env": place.env, "snapshots": rows}, text, is_table=True)


def _row(found: Snapshot) -> dict[str, Any]:
    states = [entry.state for entry in found.entries.values()]
    return {
        "name": found.name,
        "taken": found.taken,
        "actor": found.actor,
        "host": found.host,
        "commit": found.commit,
        "resources": len(states),
        "present": states.count("present"),
        "absent": states.count("absent"),
        "unobserved": sum(1 for entry in found.entries.values() if entry.reason),
    }


LIFECYCLE_LOG = Verb(
    path=("lifecycle", "log"),
    summary="List the snapshots of an environment, newest first",
    handler=answer,
    document=(
        '{"env", "snapshots": [{"name", "taken", "actor", "host", "commit", "resources",'
        ' "present", "absent", "unobserved"}]}'
    ),
    params=(ENV_PARAM,),
    own_flags=(LIMIT, ENV),
    exit_codes=(OK, USAGE, REFUSED),
)
