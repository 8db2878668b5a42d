"""The classes of resources: declared, observed and remembered, compared by values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.lifecycle import (
    ACTION_MEANINGS,
    ACTIONS,
    CLASSES,
    Change,
    Seen,
    compare_live,
    compare_stored,
)
from ops.resources.reader import ABSENT, Observation, present, unobserved
from ops.snapshot import Entry, Snapshot, entries_of, read_snapshot, snapshot_json
from tests.ops.resources.looks import resource

if TYPE_CHECKING:
    from ops.resources.reader import State
    from ops.resources.resource import Resource

THERE, CHANGED = present(mode="0644", bytes=1), present(mode="0644", bytes=2)
UNKNOWN = unobserved("no such host")


def declared(**more: Any) -> dict[str, Resource]:
    return {"it": resource("file", path="x", **more)}


def remembered(
    state: State = "present", facts: Any = None, path: str = "x", reason: str = ""
) -> Snapshot:
    known = THERE.facts if facts is None and state == "present" else facts or {}
    entry = Entry("it", "file", {"path": path}, state, known, "2026-01-01T00:00:00.000Z", reason)
    taken = "2026-01-01T00:00:00.000Z"
    return Snapshot("s", "local", taken, "ann", "box", None, {"it": entry})


LIVE: list[tuple[str, Snapshot | None, Observation, str]] = [
    ("absent and never seen", None, ABSENT, "missing"),
    ("absent and absent before", remembered("absent"), ABSENT, "missing"),
    ("absent and there before", remembered(), ABSENT, "disappeared"),
    ("there and never seen", None, THERE, "newly-observed"),
    ("there and absent before", remembered("absent"), THERE, "newly-observed"),
    ("there and another thing before", remembered(path="y"), THERE, "newly-observed"),
    ("there as before", remembered(), THERE, "unchanged"),
    ("there and different", remembered(), CHANGED, "drifted"),
    ("unknown and there before", remembered(), UNKNOWN, "unobserved"),
    ("unknown and never seen", None, UNKNOWN, "unobserved"),
    ("there as when it was last seen", remembered(reason="timed out"), THERE, "unchanged"),
]


@pytest.mark.parametrize(("_case", "last", "now", "kind"), LIVE)
def test_a_resource_has_one_class(
    _case: str, last: Snapshot | None, now: Observation, kind: str
) -> None:
    (finding,) = compare_live(declared(), last, Seen({"it": now})).findings

    assert finding.kind == kind
    assert bool(finding.reason) == (kind == "unobserved")


def test_what_is_expected_outranks_the_snapshot() -> None:
    wanted = declared(expect={"mode": "0600"})

    (drifted,) = compare_live(wanted, remembered(), Seen({"it": THERE})).findings
    (met,) = compare_live(
        declared(expect={"mode": "0644"}), remembered(), Seen({"it": CHANGED})
    ).findings
    (new,) = compare_live(declared(expect={"mode": "0644"}), None, Seen({"it": CHANGED})).findings

    assert (drifted.kind, drifted.against) == ("drifted", "declaration")
    assert drifted.changes == (Change("mode", "0600", "0644"),)
    assert (met.kind, new.kind) == ("unchanged", "newly-observed")


def test_true_is_not_one() -> None:
    wanted = {"it": resource("command", command="x", expect={"n": True})}

    (finding,) = compare_live(wanted, None, Seen({"it": present(n=1)})).findings

    assert finding.kind == "drifted"


@pytest.mark.parametrize(
    ("now", "kinds"), [(THERE, ["orphan"]), (ABSENT, []), (UNKNOWN, ["unobserved"])]
)
def test_what_is_no_longer_declared_is_an_orphan_as_long_as_it_is_there(
    now: Observation, kinds: list[str]
) -> None:
    found = compare_live({}, remembered(), Seen({}, {"it": now}))

    assert [finding.kind for finding in found.findings] == kinds


def test_only_departures_count_as_drift_and_what_nobody_knows_does_not() -> None:
    unknown = compare_live(declared(), remembered(), Seen({"it": UNKNOWN}))
    new = compare_live(declared(), None, Seen({"it": THERE}))
    gone = compare_live(declared(), remembered(), Seen({"it": ABSENT}))

    assert (unknown.drifted, new.drifted, gone.drifted) == (False, False, True)
    assert gone.counts["disappeared"] == 1
    assert list(gone.counts) == list(CLASSES)


STORED: list[tuple[Snapshot | None, str, str]] = [
    (None, "unobserved", "there is no snapshot yet"),
    (remembered(), "unchanged", ""),
    (remembered("absent"), "missing", ""),
    (remembered(path="y"), "unobserved", "it was declared differently"),
    (remembered(reason="timed out"), "unobserved", "timed out"),
]


@pytest.mark.parametrize(("last", "kind", "reason"), STORED)
def test_without_a_look_the_snapshot_decides(last: Snapshot | None, kind: str, reason: str) -> None:
    (finding,) = compare_stored(declared(), last).findings

    assert finding.kind == kind
    assert finding.reason.startswith(reason)


def test_without_a_look_expectations_and_orphans_are_judged_by_the_snapshot() -> None:
    (drifted,) = compare_stored(declared(expect={"bytes": 9}), remembered()).findings
    (orphan,) = compare_stored({}, remembered()).findings
    other = {"other": resource("file", path="o")}

    assert drifted.changes == (Change("bytes", 9, 1),)
    assert orphan.kind == "orphan"
    assert compare_stored({}, remembered("absent")).findings == ()
    both = {each.kind for each in compare_stored(other, remembered()).findings}
    assert both == {"orphan", "unobserved"}


def test_a_snapshot_keeps_what_was_known_of_what_it_can_not_look_at() -> None:
    taken = "2026-01-02T00:00:00.000Z"

    kept = entries_of(declared(), {"it": UNKNOWN}, remembered(), taken)["it"]
    lost = entries_of(declared(), {"it": UNKNOWN}, None, taken)["it"]

    assert (kept.state, kept.facts, kept.reason) == ("present", THERE.facts, "no such host")
    assert kept.seen == "2026-01-01T00:00:00.000Z"
    assert (lost.state, lost.facts, lost.reason) == ("unobserved", {}, "no such host")


def test_a_snapshot_is_read_back_as_it_was_written() -> None:
    snapshot = remembered(reason="timed out")

    assert read_snapshot(snapshot_json(snapshot), "path") == snapshot


def test_every_class_has_an_action_and_every_action_a_meaning() -> None:
    assert list(ACTIONS) != []
    assert ACTIONS.keys() == CLASSES.keys()
    assert set(ACTIONS.values()) == ACTION_MEANINGS.keys()
