"""A snapshot: what the resources of an environment were like at one time.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ops.digests import canonical_json
from ops.errors import LedgerError
from ops.shapes import MAYBE_TEXT, check_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Observation, State
    from ops.resources.resource import Resource
    from ops.shapes import Kinds

SNAPSHOT_VERSION = 1

SNAPSHOT: dict[str, Kinds] = {
    **dict.fromkeys(("name", "env", "taken", "actor", "host"), str),
    "resources": dict,
}
ENTRY: dict[str, Kinds] = {"reader": str, "keys": dict, "state": str, "facts": dict, "seen": str}
STATES: frozenset[State] = frozenset({"present", "absent", "unobserved"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One resource as it was.

    With a ``reason`` it could not be looked at then: ``state`` and ``facts`` are those of
    ``seen``, the last time that it could, or ``unobserved`` when it never could.
    """

    name: str
    reader: str
    keys: Mapping[str, Any]
    state: State
    facts: Mapping[str, Any]
    seen: str
    """When the facts were looked at."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All entries of one snapshot, by name, and who took it."""

    name: str
    env: str
    taken: str
    actor: str
    host: str
    commit: str | None
    entries: Mapping[str, Entry]


def entries_of(
    resources: Mapping[str, Resource],
    seen: Mapping[str, Observation],
    last: Snapshot | None,
    taken: str,
) -> dict[str, Entry]:
    """Return an entry for each resource; what can't be looked at keeps the facts known before."""
    entries: dict[str, Entry] = {}
    for name, resource in resources.items():
        now, reader = seen[name], resource.reader.name
        before = same_thing(resource, last.entries.get(name)) if last else None
        if now.state != "unobserved":
            entries[name] = Entry(name, reader, resource.keys, now.state, now.facts, taken)
        elif before is not None:
            entries[name] = replace(before, keys=resource.keys, reason=now.reason)
        else:
            entries[name] = Entry(name, reader, resource.keys, "unobserved", {}, taken, now.reason)
    return entries


def same_thing(resource: Resource, entry: Entry | None) -> Entry | None:
    """Return the entry if it is of the very thing that is declared, else None."""
    if entry is None or entry.reader != resource.reader.name:
        return None
    same = canonical_json(dict(resource.keys)) == canonical_json(dict(entry.keys))
    return entry if same else None


def snapshot_json(snapshot: Snapshot) -> dict[str, Any]:
    """Return the document that the ledger keeps."""
    return {
        "version": SNAPSHOT_VERSION,
        "name": snapshot.name,
        "env": snapshot.env,
        "taken": snapshot.taken,
        "actor": snapshot.actor,
        "host": snapshot.host,
        "commit": snapshot.commit,
        "resources": {name: _entry_json(entry) for name, entry in snapshot.entries.items()},
    }


def read_snapshot(value: Any, path: str) -> Snapshot:
    """Read what `snapshot_json` made.

    Raises:
        LedgerError: It is no snapshot.

    """
    try:
        table = check_table(value, SNAPSHOT, {"commit": MAYBE_TEXT})
        return Snapshot(
            name=table["name"],
            env=table["env"],
            taken=table["taken"],
            actor=table["actor"],
            host=table["host"],
            commit=table["commit"],
            entries={name: _entry(name, each) for name, each in table["resources"].items()},
        )
    except (KeyError, TypeError) as error:
        msg = f"{path} on the ledger's branch is no snapshot: {error}"
        raise LedgerError(msg) from error


def _entry_json(entry: Entry) -> dict[str, Any]:
    shown = {"reader": entry.reader, "keys": dict(entry.keys), "state": entry.state}
    shown |= {"facts": dict(entry.facts), "seen": entry.seen}
    return {**shown, "reason": entry.reason} if entry.reason else shown


def _entry(name: str, value: Any) -> Entry:
    check_table(value, ENTRY, {"reason": str})
    if value["state"] not in STATES:
        msg = f"the state of {name} is {value['state']!r}"
        raise TypeError(msg)
    return Entry(
        name,
        value["reader"],
        value["keys"],
        value["state"],
        value["facts"],
        value["seen"],
        value.get("reason", ""),
    )
