"""Comparing a project's resources with the world: what `lifecycle diff` and `plan` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.errors import OpInvalid
from ops.ledger import NoLedger, open_ledger
from ops.lifecycle import Comparison, Seen, compare_live, compare_stored
from ops.resources.observing import observe
from ops.resources.resource import load_resources
from ops.snapshots import find_snapshot, observe_orphans

if TYPE_CHECKING:
    from ops.resources.resource import Declared
    from ops.snapshot import Snapshot
    from runtimes.chant.place import Place
    from runtimes.chant.verbs.verb import Surroundings


def declared_in(place: Place) -> Declared:
    """Return the project's resources.

    Raises:
        OpInvalid: A declaration is wrong: a comparison without it would look complete.

    """
    declared = load_resources(place.project)
    if declared.problems:
        raise OpInvalid("\n".join(map(str, declared.problems)))
    return declared


def last_snapshot(place: Place) -> tuple[Snapshot | None, str | None]:
    """Return the last snapshot, or None and why there can't be one."""
    ledger = open_ledger(place.project.root, place.project.ledger)
    if isinstance(ledger, NoLedger):
        return None, f"{ledger.reason}, so there is no snapshot"
    return find_snapshot(ledger, place.env), None


def compared(
    place: Place, around: Surroundings, *, live: bool
) -> tuple[Comparison, Snapshot | None, str | None]:
    """Compare; with ``live`` look at everything now.  Also the snapshot, or why there is none."""
    every = declared_in(place)
    here = every.in_environment(place.env)
    last, why = last_snapshot(place)
    if not live:
        return compare_stored(here, last), last, why
    root, environ, cancel = place.project.root, around.environ, around.cancel
    now = observe(here, root, environ, cancel)
    gone = observe_orphans(last, here, root, environ, cancel)
    return compare_live(here, last, Seen(now, gone)), last, why
