"""``chant lifecycle show``: a snapshot, as it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.snapshot import Entry, Snapshot


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Show the snapshot that is named, or the last one."""
    from ops.snapshot import snapshot_json
    from ops.snapshots import LATEST, SnapshotRefused, find_snapshot
    from runtimes.chant.place import ledger_of, place_of

    place = place_of(invocation, around)
    found = find_snapshot(ledger_of(place.project), place.env, invocation.param("NAME") or LATEST)
    if found is None:
        msg = f"there is no snapshot of {place.env} yet: chant lifecycle snapshot takes one"
        raise SnapshotRefused(msg)
    return Outcome(OK, snapshot_json(found), _text(found))


def _text(found: Snapshot) -> str:
    from runtimes.chant.columns import moment_text

    by = f"by {found.actor} on {found.host}"
    head = f"snapshot {found.name} of {found.env}, taken {moment_text(found.taken)} {by}"
    return "\n".join([head, *(line for e in found.entries.values() for line in _lines(e))])


def _lines(entry: Entry) -> Iterator[str]:
    from runtimes.chant.columns import shown_value

    since = f", as of {entry.seen}; {entry.reason}" if entry.reason else ""
    yield f"{entry.name} ({entry.reader}): {entry.state}{since}"
    for name, value in entry.facts.items():
        yield f"  {name}: {shown_value(value)}"


LIFECYCLE_SHOW = Verb(
    path=("lifecycle", "show"),
    summary="Show a snapshot: the last one, or one by its name",
    handler=answer,
    document='as of lifecycle snapshot, without "ledger_commit" and "pushed"',
    params=(Param("NAME", "the snapshot's name, see chant lifecycle log", required=False),),
    own_flags=(ENV,),
    exit_codes=(OK, USAGE, REFUSED),
)
