"""Snapshots on the ledger's branch."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ops.errors import LedgerError
from ops.facts import RunFacts
from ops.ledger import Ledger, open_ledger
from ops.project import LedgerSettings
from ops.resources.observing import observe
from ops.resources.reader import Observation, present, unobserved
from ops.snapshots import (
    SnapshotRefused,
    Taking,
    find_snapshot,
    last_snapshots,
    observe_orphans,
    take_snapshot,
    unnamed,
)
from tests.ops.projects import git, repository
from tests.ops.resources.looks import Cancel, resource

if TYPE_CHECKING:
    from pathlib import Path

    from ops.snapshot import Snapshot

FACTS = RunFacts("ann", "box", "abc", dirty=False)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = open_ledger(str(repository(tmp_path)), LedgerSettings())
    assert isinstance(opened, Ledger)
    return opened


def take(ledger: Ledger, name: str, wall_s: float, *, seen: Observation | None = None) -> Snapshot:
    observed = {"it": seen or present(bytes=1)}
    taking = Taking("local", name, wall_s, FACTS, {"it": resource("file", path="x")}, observed)
    return take_snapshot(ledger, taking)[0]


def test_a_snapshot_lies_where_the_layout_says(ledger: Ledger, tmp_path: Path) -> None:
    taken = take(ledger, "before", 0.0)

    files = git(tmp_path, "ls-tree", "-r", "--name-only", "chant/lifecycle").split("\n")
    assert files == ["local/snapshots/before.json", "local/snapshots/latest.json"]
    assert find_snapshot(ledger, "local") == taken
    assert find_snapshot(ledger, "local", "before") == taken
    assert find_snapshot(ledger, "prod") is None


def test_the_last_one_is_found_and_all_are_listed_newest_first(ledger: Ledger) -> None:
    for wall_s in (10.0, 20.0, 30.0):
        take(ledger, unnamed(wall_s), wall_s)
    take(ledger, "a-name", 25.0)

    last = last_snapshots(ledger, "local", 3)

    assert [each.name for each in last] == [unnamed(30.0), "a-name", unnamed(20.0)]
    newest = find_snapshot(ledger, "local")
    assert newest is not None
    assert newest.name == unnamed(30.0)


def test_an_unknown_name_lists_the_last_ones(ledger: Ledger) -> None:
    take(ledger, "before", 0.0)

    with pytest.raises(SnapshotRefused, match=r"unknown snapshot 'befor' .*known: before"):
        find_snapshot(ledger, "local", "befor")


@pytest.mark.parametrize("name", ["latest", "../x", "", ".x", "a b"])
def test_a_name_that_can_not_be_one_is_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(SnapshotRefused, match="can't name a snapshot"):
        take(ledger, name, 0.0)
    assert ledger.branch.tip() is None


def test_a_name_is_given_once(ledger: Ledger) -> None:
    take(ledger, "before", 0.0)
    tip = ledger.branch.tip()

    with pytest.raises(SnapshotRefused, match="already"):
        take(ledger, "before", 1.0)
    assert ledger.branch.tip() == tip


def test_a_snapshot_that_knows_nothing_is_not_kept(ledger: Ledger) -> None:
    with pytest.raises(SnapshotRefused, match="it: no such host"):
        take(ledger, "x", 0.0, seen=unobserved("no such host"))
    assert ledger.branch.tip() is None


def put(ledger: Ledger, content: bytes) -> None:
    ledger.branch.change("local/snapshots/latest.json", lambda _: content, "damage")


def test_a_damaged_snapshot_is_an_error(ledger: Ledger) -> None:
    ledger.branch.change("local/snapshots/latest.json", lambda _: b"{}", "damage")
    with pytest.raises(LedgerError, match="is no snapshot"):
        find_snapshot(ledger, "local")

    for damage in (b"{", b"[" * 100_000):
        put(ledger, damage)
        with pytest.raises(LedgerError, match="is no JSON"):
            find_snapshot(ledger, "local")


def test_what_is_no_longer_declared_is_looked_at_as_it_was_declared(
    ledger: Ledger, tmp_path: Path
) -> None:
    snapshot = take(ledger, "x", 0.0)
    (tmp_path / "x").write_text("still there")

    seen = observe_orphans(snapshot, {}, str(tmp_path), {}, Cancel())

    assert seen["it"].facts["bytes"] == 11
    assert observe_orphans(snapshot, {"it": resource("file", path="x")}, "/", {}, Cancel()) == {}
    assert observe_orphans(None, {}, "/", {}, Cancel()) == {}


@pytest.mark.parametrize(
    ("reader", "keys", "reason"),
    [
        ("command", {"command": "touch ran"}, "a program that only the ledger knows is not run"),
        ("http", {"url": "http://127.0.0.1:9/x", "method": "DELETE"}, "a request that only"),
        ("file", {"path": 7}, "path must be text, not 7"),
        ("file", {}, "path is missing"),
        ("file", {"path": "x", "pass": "y"}, "unknown key"),
    ],
)
def test_what_only_a_snapshot_says_is_checked_and_never_carried_out(
    ledger: Ledger, tmp_path: Path, reader: str, keys: dict[str, Any], reason: str
) -> None:
    """Whoever could push to the ledger's branch could have a program run by the next look."""
    entry = replace(take(ledger, "x", 0.0).entries["it"], reader=reader, keys=keys)
    snapshot = replace(take(ledger, "y", 0.0), entries={"it": entry})

    seen = observe_orphans(snapshot, {}, str(tmp_path), {}, Cancel())

    assert seen["it"].state == "unobserved"
    assert reason in seen["it"].reason
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "damage",
    [
        {"resources": []},
        {"resources": {"it": 7}},
        {"resources": {"it": {"reader": "file", "keys": [], "state": "present", "facts": {}}}},
        {"taken": 7},
        {"actor": None},
    ],
)
def test_a_snapshot_of_another_shape_is_an_error(ledger: Ledger, damage: dict[str, Any]) -> None:
    take(ledger, "x", 0.0)

    def damaged(content: bytes) -> bytes:
        return json.dumps({**json.loads(content), **damage}).encode()

    ledger.branch.change("local/snapshots/latest.json", damaged, "damage")

    with pytest.raises(LedgerError, match="is no snapshot"):
        find_snapshot(ledger, "local")


def test_many_are_looked_at_side_by_side(tmp_path: Path) -> None:
    # Each waits for the other, so one after another they would never end.
    (tmp_path / "meet.py").write_text(
        "import os, sys\nwith open(sys.argv[1], 'w'): pass\nwith open(sys.argv[2]) as b: b.read()\n"
    )
    for name in "ab":
        subprocess.run(["mkfifo", str(tmp_path / name)], check=True)
    argv: list[Any] = [sys.executable, "meet.py"]
    each = {
        "first": resource("command", command=[*argv, "a", "b"]),
        "second": resource("command", command=["sh", "-c", "read x < a; echo > b"]),
    }

    seen = observe(each, str(tmp_path), {"PATH": "/usr/bin:/bin"}, Cancel())

    assert [each.state for each in seen.values()] == ["present", "present"]


def test_a_cancel_is_an_observation_of_what_was_not_looked_at(tmp_path: Path) -> None:
    cancel = Cancel()
    cancel.set()

    seen = observe({"it": resource("file", path="x")}, str(tmp_path), {}, cancel)

    assert seen == {"it": unobserved("stopped before it was looked at")}
