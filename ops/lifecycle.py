"""What is declared, what is there now and what was there before, compared.  Pure.

An observation that failed is a class of its own with a reason, and never counts as an absence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ops.resources.reader import unobserved
from ops.snapshot import same_thing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Observation
    from ops.resources.resource import Resource
    from ops.snapshot import Entry, Snapshot

Class: TypeAlias = Literal[
    "missing", "orphan", "disappeared", "newly-observed", "drifted", "unchanged", "unobserved"
]
CLASSES: dict[Class, str] = {
    "missing": "declared, and not there",
    "disappeared": "declared, there in the last snapshot, and gone",
    "drifted": "there, and not as declared or as in the last snapshot",
    "orphan": "no longer declared, and still there",
    "newly-observed": "declared and there; the last snapshot does not know it",
    "unobserved": "nobody knows, for the reason given",
    "unchanged": "as declared, or as in the last snapshot",
}
"""Every class and what it says, the worst first."""

DRIFT: frozenset[Class] = frozenset({"missing", "disappeared", "drifted", "orphan"})
"""What --exit-code reports as a finding."""

Action: TypeAlias = Literal["create", "update", "remove", "adopt", "none", "unknown"]
ACTIONS: dict[Class, Action] = {
    "missing": "create",
    "disappeared": "create",
    "drifted": "update",
    "orphan": "remove",
    "newly-observed": "adopt",
    "unchanged": "none",
    "unobserved": "unknown",
}
ACTION_MEANINGS: dict[Action, str] = {
    "create": "declared and absent",
    "update": "there, but not as it should be",
    "remove": "there, but not declared any more",
    "adopt": "as it should be; the next snapshot will know it",
    "none": "as it should be",
    "unknown": "could not be looked at",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that differs; None where it is not stated."""

    fact: str
    wanted: Any
    found: Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One resource and its class."""

    name: str
    reader: str
    kind: Class
    reason: str = ""
    """Why it is unobserved."""
    changes: tuple[Change, ...] = ()
    against: Literal["declaration", "snapshot", ""] = ""
    """What the changes are measured by."""
    op: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All findings, in order of name."""

    findings: tuple[Finding, ...] = ()

    @property
    def counts(self) -> dict[Class, int]:
        """How many there are of each class."""
        kinds = [finding.kind for finding in self.findings]
        return {kind: kinds.count(kind) for kind in CLASSES}

    @property
    def drifted(self) -> bool:
        """Whether anything is not as it should be."""
        return any(finding.kind in DRIFT for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is there now: of declared resources, and of those that only the snapshot knows."""

    declared: Mapping[str, Observation] = field(default_factory=dict[str, "Observation"])
    orphans: Mapping[str, Observation] = field(default_factory=dict[str, "Observation"])


def compare_live(declared: Mapping[str, Resource], last: Snapshot | None, seen: Seen) -> Comparison:
    """Compare declarations, the last snapshot and what was just observed."""
    entries = dict(last.entries) if last else {}
    nobody = unobserved("it was not looked at")
    found = [
        _live(resource, entries.get(name), seen.declared.get(name, nobody))
        for name, resource in declared.items()
    ]
    for name, entry in entries.items():
        if name not in declared:
            found += _orphan(entry, seen.orphans.get(name, nobody))
    return _sorted(found)


def compare_stored(declared: Mapping[str, Resource], last: Snapshot | None) -> Comparison:
    """Compare declarations with the last snapshot; nothing is looked at."""
    entries = dict(last.entries) if last else {}
    found = [_stored(resource, last, entries.get(name)) for name, resource in declared.items()]
    gone = [entry for name, entry in entries.items() if name not in declared]
    found += [
        Finding(entry.name, entry.reader, "orphan") for entry in gone if entry.state == "present"
    ]
    return _sorted(found)


def _live(resource: Resource, stored: Entry | None, now: Observation) -> Finding:
    entry = same_thing(resource, stored)
    if now.state == "unobserved":
        return _finding(resource, "unobserved", reason=now.reason)
    if now.state == "absent":
        was_there = entry is not None and entry.state == "present"
        return _finding(resource, "disappeared" if was_there else "missing")
    if resource.expect is not None:
        return _expected(resource, now.facts, known=entry is not None)
    if entry is None or entry.state != "present":
        return _finding(resource, "newly-observed")
    return _measured(resource, entry.facts, now.facts, "snapshot")


def _expected(resource: Resource, facts: Mapping[str, Any], *, known: bool) -> Finding:
    wanted = resource.expect or {}
    stated = {name: facts.get(name) for name in wanted}
    finding = _measured(resource, wanted, stated, "declaration")
    if finding.kind == "unchanged" and not known:
        return _finding(resource, "newly-observed")
    return finding


def _measured(
    resource: Resource,
    wanted: Mapping[str, Any],
    found: Mapping[str, Any],
    against: Literal["declaration", "snapshot"],
) -> Finding:
    names = sorted(wanted.keys() | found.keys())
    pairs = [Change(name, wanted.get(name), found.get(name)) for name in names]
    changes = tuple(each for each in pairs if not _same(each.wanted, each.found))
    if not changes:
        return _finding(resource, "unchanged")
    return Finding(
        resource.name, resource.reader.name, "drifted", "", changes, against, resource.op
    )


def _same(wanted: Any, found: Any) -> bool:
    # true is 1 to Python, but not to the person who wrote it.
    return wanted == found and isinstance(wanted, bool) == isinstance(found, bool)


def _orphan(entry: Entry, now: Observation) -> list[Finding]:
    """Tell of something that only the snapshot knows; when it is gone too, there is nothing."""
    if now.state == "present":
        return [Finding(entry.name, entry.reader, "orphan")]
    if now.state == "unobserved" and entry.state == "present":
        reason = f"no longer declared, and {now.reason}"
        return [Finding(entry.name, entry.reader, "unobserved", reason)]
    return []


def _stored(resource: Resource, last: Snapshot | None, stored: Entry | None) -> Finding:
    if last is None:
        return _finding(resource, "unobserved", reason="there is no snapshot yet")
    if stored is None:
        return _finding(resource, "unobserved", reason="the last snapshot does not know it")
    entry = same_thing(resource, stored)
    if entry is None:
        reason = "it was declared differently when the last snapshot was taken"
        return _finding(resource, "unobserved", reason=reason)
    if entry.reason:
        return _finding(resource, "unobserved", reason=entry.reason)
    if entry.state == "absent":
        return _finding(resource, "missing")
    if resource.expect is not None:
        return _expected(resource, entry.facts, known=True)
    return _finding(resource, "unchanged")


def _finding(resource: Resource, kind: Class, reason: str = "") -> Finding:
    return Finding(resource.name, resource.reader.name, kind, reason, op=resource.op)


def _sorted(found: list[Finding]) -> Comparison:
    return Comparison(tuple(sorted(found, key=lambda finding: finding.name)))
