"""Finding a run that someone names: by its Op, or by its id."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from ops.errors import OpNotFound, OpsError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.in_flight import InFlight, Living
    from ops.ledger import Ledger
    from runtimes.chant.place import Place

RUN_ID = re.compile(r"[0-9]{8}-[0-9]{9}-[0-9a-f]{8}")
SEARCHED = 100_000
"""As many runs of an environment are looked through for an id."""


class RunNotFound(OpsError):  # noqa: N818 - the tree names what happened
    """There is no such run."""


def known_op(place: Place, ledger: Ledger, op: str) -> None:
    """Check that an Op of that name is declared or has run.

    Raises:
        OpNotFound: Neither; the message lists what there is.

    """
    from ops.loading import load_catalog

    catalog = load_catalog(place.project)
    known = {*catalog.ops, *catalog.broken, *ledger.newest_of_each(place.env)}
    if op not in known:
        raise OpNotFound(unknown("op", op, known))


def find_run(place: Place, ledger: Ledger, name: str) -> Mapping[str, Any]:
    """Return the run with an id, or the newest run of an Op.

    Raises:
        RunNotFound: There is none.
        OpNotFound: ``name`` is neither.

    """
    if RUN_ID.fullmatch(name):
        return _by_id(place, ledger, name)
    newest = newest_run(place, ledger, name)
    if newest is None:
        known_op(place, ledger, name)
        raise RunNotFound(unfinished(place, name, running=runs_of(place, ledger, name)))
    return newest


def newest_run(place: Place, ledger: Ledger, op: str) -> Mapping[str, Any] | None:
    """Return an Op's last run that is over, None when there is none."""
    return _with_unrecorded(place, ledger, {op: ledger.newest(place.env, op)})[op]


def newest_runs(place: Place, ledger: Ledger) -> dict[str, Mapping[str, Any]]:
    """Return the last run that is over of every Op that has one."""
    newest = _with_unrecorded(place, ledger, {**ledger.newest_of_each(place.env)})
    return {op: record for op, record in newest.items() if record is not None}


def last_runs(
    place: Place, ledger: Ledger, limit: int, op: str | None
) -> tuple[list[Mapping[str, Any]], int]:
    """Return the last runs of one Op, or of all, newest first, and how many can't be read."""
    found = ledger.recent(place.env, limit, op)
    known = {each["id"] for each in found.records}
    lost = [
        each
        for each in unrecorded(place, ledger)
        if op in {None, each.get("op")} and each["id"] not in known
    ]
    runs = sorted([*lost, *found.records], key=_moment, reverse=True)
    return runs[:limit], found.damaged


def unrecorded(place: Place, ledger: Ledger) -> list[Mapping[str, Any]]:
    """Return the runs that are over and not in the ledger: their process was killed."""
    from ops.in_flight import InFlight

    return list(InFlight(ledger.state_dir).unrecorded(place.env))


def _with_unrecorded(
    place: Place, ledger: Ledger, newest: dict[str, Mapping[str, Any] | None]
) -> dict[str, Mapping[str, Any] | None]:
    """Put the runs that only a note tells of where they are newer than what was recorded."""
    for lost in unrecorded(place, ledger):
        op = str(lost.get("op"))
        recorded = newest.get(op)
        if recorded is None or _began(lost) > _began(recorded):
            newest[op] = lost
    return newest


def _moment(record: Mapping[str, Any]) -> tuple[str, str]:
    return str(record.get("ended") or record.get("started") or ""), str(record["id"])


def _began(record: Mapping[str, Any]) -> str:
    return str(record.get("started") or "")


def runs_of(place: Place, ledger: Ledger, op: str) -> list[Living]:
    """Return the runs of an Op that go on right now, as far as this machine knows."""
    from ops.in_flight import InFlight

    wanted = (op, place.env)
    living = InFlight(ledger.state_dir).living()
    return [each for each in living if (each.record.get("op"), each.record.get("env")) == wanted]


def unfinished(place: Place, op: str, *, running: Sequence[Living]) -> str:
    """Say that an Op has no finished run, and how to come to one."""
    then = f"chant run status {op} shows the one that goes on" if running else to_run(place, op)
    return f"{op} has no finished run in {place.env}; {then}"


def to_run(place: Place, op: str) -> str:
    """Say what begins a run in the environment that was meant."""
    from ops.project import choose_environment

    usual = choose_environment(place.project, None)
    flag = "" if place.env == usual else f" --env {place.env}"
    return f"chant run {op}{flag} begins one"


def living_run(place: Place, ledger: Ledger, notes: InFlight, name: str) -> Living:
    """Return the run of an Op, or with an id, that goes on right now on this machine.

    Raises:
        RunNotFound: None does, several do, or it goes on elsewhere.
        OpNotFound: ``name`` is no Op.

    """
    here = [each for each in notes.living() if each.record.get("env") == place.env]
    found = [each for each in here if name in {each.record["id"], each.record["op"]}]
    if not found:
        if not RUN_ID.fullmatch(name):
            known_op(place, ledger, name)
        running = ", ".join(f"{each.record['op']} ({each.record['id']})" for each in here)
        msg = f"{name} does not run in {place.env}; running: {running or 'nothing'}"
        raise RunNotFound(msg)
    if len(found) > 1:
        ids = ", ".join(each.record["id"] for each in found)
        msg = f"{name} runs {len(found)} times: name one of {ids}"
        raise RunNotFound(msg)
    (run,) = found
    if run.host != os.uname().nodename:
        msg = f"run {run.record['id']} goes on on {run.host}: cancel it there"
        raise RunNotFound(msg)
    return run


def _by_id(place: Place, ledger: Ledger, run_id: str) -> Mapping[str, Any]:
    limit = 100
    while True:
        found = ledger.recent(place.env, limit).records
        for record in found:
            if record["id"] == run_id:
                return record
        if len(found) < limit or limit >= SEARCHED:
            break
        limit *= 10
    for lost in unrecorded(place, ledger):
        if lost["id"] == run_id:
            return lost
    msg = f"there is no run {run_id} in {place.env}"
    raise RunNotFound(msg)
