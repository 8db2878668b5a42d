"""Snapshots on the ledger's branch: taking, finding and listing them.

``<env>/snapshots/<name>.json``; ``latest.json`` is a copy of the one taken last, so that finding
it costs the same however many there are.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ops.counts import counted
from ops.errors import LedgerError, OpsError, unknown
from ops.findings import Findings, Table
from ops.json_in import read_json
from ops.resources.observing import observe
from ops.resources.reader import unobserved
from ops.resources.resource import Resource, read_resource
from ops.resources.table import READERS
from ops.run_id import timestamp
from ops.snapshot import Snapshot, entries_of, read_snapshot, snapshot_json
from ops.toml_lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ops.branch_tree import BranchTree
    from ops.facts import RunFacts
    from ops.ledger import Appended, Ledger
    from ops.resources.reader import Observation, Stopping
    from ops.snapshot import Entry

LATEST = "latest"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
ACTING = {
    "command": "a program that only the ledger knows is not run",
    "http": "a request that only the ledger knows is not sent",
}
"""Readers that do what their keys say, and what is said of a look that is not taken."""
UNNAMED = re.compile(r"[0-9]{8}-[0-9]{9}")


class SnapshotRefused(OpsError):  # noqa: N818 - the tree names what happened
    """The snapshot can't be taken, or there is none of that name."""


def unnamed(wall_s: float) -> str:
    """Return the name of a snapshot that nobody named: its time, so that names sort."""
    import datetime as dt

    taken = dt.datetime.fromtimestamp(wall_s, tz=dt.UTC)
    return f"{taken:%Y%m%d-%H%M%S}{taken.microsecond // 1000:03d}"


def find_snapshot(ledger: Ledger, env: str, name: str = LATEST) -> Snapshot | None:
    """Return a snapshot; None when nobody has ever taken one in ``env``.

    Raises:
        SnapshotRefused: There are some, but none of that name; the message lists the last ones.
        LedgerError: It can't be read.

    """
    tree = ledger.branch.tree()
    if name == LATEST:
        return _latest(tree, env)
    path = snapshot_path(env, name)
    content = tree.read(path)
    if content is None:
        raise SnapshotRefused(
            unknown("snapshot", name, _names(tree.blobs(f"{env}/snapshots/"), env)[:20])
        )
    return _parsed(content, path)


def last_snapshots(ledger: Ledger, env: str, limit: int) -> list[Snapshot]:
    """Return the snapshots that were taken last, newest first."""
    tree = ledger.branch.tree()
    blobs = tree.blobs(f"{env}/snapshots/")
    names = _names(blobs, env)
    chosen = [name for name in names if not UNNAMED.fullmatch(name)]
    chosen += [name for name in names if UNNAMED.fullmatch(name)][:limit]
    paths = [snapshot_path(env, name) for name in chosen]
    read = tree.contents({path: blobs[path] for path in paths})
    found = [_parsed(content, path) for path, content in read]
    return sorted(found, key=lambda each: (each.taken, each.name), reverse=True)[:limit]


@dataclass(frozen=True, slots=True)
class Taking:
    """What a snapshot is made of: who looked at which resources, when, and what was seen."""

    env: str
    name: str
    wall_s: float
    facts: RunFacts
    resources: Mapping[str, Resource]
    seen: Mapping[str, Observation]


def take_snapshot(ledger: Ledger, taking: Taking) -> tuple[Snapshot, Appended]:
    """Store what was seen.

    Raises:
        SnapshotRefused: Nothing could be looked at, or the name is taken or can't be one.
        LedgerError: It could not be written.

    """
    env, name, facts, seen = taking.env, taking.name, taking.facts, taking.seen
    if name == LATEST or not NAME.fullmatch(name):
        msg = f"{name!r} can't name a snapshot: letters, digits, _, - and ., and not {LATEST!r}"
        raise SnapshotRefused(msg)
    if all(each.state == "unobserved" for each in seen.values()):
        # The snapshot before it would be hidden behind one that knows nothing.
        reasons = "".join(f"\n{each}: {seen[each].reason}" for each in sorted(seen))
        msg = f"nothing could be looked at, so there is nothing to keep{reasons}"
        raise SnapshotRefused(msg)
    taken, made = timestamp(taking.wall_s), list[Snapshot]()

    def make(tree: BranchTree) -> dict[str, bytes]:
        path, latest = snapshot_path(env, name), snapshot_path(env, LATEST)
        if tree.blobs(path):
            msg = f"there is a snapshot {name!r} in {env} already; give another --name"
            raise SnapshotRefused(msg)
        last = _latest(tree, env)
        entries = entries_of(taking.resources, seen, last, taken)
        snapshot = Snapshot(name, env, taken, facts.actor, facts.host, facts.commit, entries)
        made.append(snapshot)
        content = json.dumps(snapshot_json(snapshot), indent=1, ensure_ascii=False).encode()
        return {path: content + b"\n", latest: content + b"\n"}

    message = f"snapshot {name} of {counted(len(taking.resources), 'resource')} in {env}"
    appended = ledger.edit(make, message)
    return made[-1], appended


def observe_orphans(
    last: Snapshot | None,
    declared: Mapping[str, Resource],
    root: str,
    environ: Mapping[str, str],
    cancel: Stopping,
) -> dict[str, Observation]:
    """Look at what only the last snapshot knows, with the keys that were declared then.

    A snapshot is what somebody pushed: nothing of it is run or sent.
    """
    gone: dict[str, Resource] = {}
    seen: dict[str, Observation] = {}
    for entry in last.entries.values() if last else ():
        if entry.name in declared or entry.reader not in READERS:
            continue
        found = _remembered(entry)
        if isinstance(found, Resource):
            gone[entry.name] = found
        else:
            seen[entry.name] = unobserved(found)
    return {**seen, **observe(gone, root, environ, cancel)}


def _remembered(entry: Entry) -> Resource | str:
    """Return a resource as it was declared once, or why it is not to be looked at."""
    if entry.reader in ACTING:
        return ACTING[entry.reader]
    findings = Findings("the snapshot", LineIndex(""))
    words = {"name": entry.name, "reader": entry.reader, **entry.keys}
    resource = read_resource(Table(words, (), entry.name, findings))
    return findings.problems[0].reason if findings.problems else resource


def snapshot_path(env: str, name: str) -> str:
    """Return the file of a snapshot on the branch.

    Raises:
        SnapshotRefused: The name can't be one.

    """
    if not NAME.fullmatch(name):
        msg = f"{name!r} can't name a snapshot"
        raise SnapshotRefused(msg)
    return f"{env}/snapshots/{name}.json"


def _latest(tree: BranchTree, env: str) -> Snapshot | None:
    """Return the newest of the copy and the last unnamed one.

    Where two histories were united, the copy is the one that was published first.
    """
    blobs = tree.blobs(f"{env}/snapshots/")
    last = [name for name in _names(blobs, env) if UNNAMED.fullmatch(name)][:1]
    paths = [snapshot_path(env, name) for name in (LATEST, *last)]
    chosen = {path: blobs[path] for path in paths if path in blobs}
    found = [_parsed(content, path) for path, content in tree.contents(chosen)]
    return max(found, key=lambda each: each.taken, default=None)


def _names(blobs: Iterable[str], env: str) -> list[str]:
    """Return the names of all snapshots, newest first as far as names tell."""
    folder = f"{env}/snapshots/"
    names = [path.removeprefix(folder).removesuffix(".json") for path in blobs]
    return sorted((name for name in names if name != LATEST), reverse=True)


def _parsed(content: bytes, path: str) -> Snapshot:
    try:
        value: Any = read_json(content)
    except ValueError as error:
        msg = f"{path} on the ledger's branch is no JSON: {error}"
        raise LedgerError(msg) from error
    return read_snapshot(value, path)
