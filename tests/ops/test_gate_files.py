"""Gates of years: what is over is put aside, and nothing of it opens anything again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ops.gate_book import GateBook
from ops.gate_facts import read_facts
from ops.gate_files import gates_path, ops_with_gates, put_aside
from ops.gate_ledger import GateLedger
from tests.ops.projects import repository
from tests.ops.test_gate_ledger import GIVEN, Go, reach
from tests.ops.test_gates import ASK, NOW_S, Ledger
from tests.ops.test_ledger import ledger
from tests.ops.test_remote import checkout

if TYPE_CHECKING:
    from pathlib import Path

PATH = gates_path("release")


def lived(rounds: int) -> Ledger:
    """Let ``rounds`` runs ask, be approved and pass."""
    story = Ledger()
    for _ in range(rounds):
        story.run()
        story.say()
        assert story.run().state == "approved"
    return story


def test_a_small_file_is_left_as_it_is() -> None:
    content = lived(3).content

    assert put_aside("release", content, NOW_S) == {PATH: content}


def test_what_is_over_is_put_aside_and_what_counts_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops.gate_files.MAX_FILE_BYTES", 4000)
    story = lived(5)
    story.run()
    story.run(env="local")
    story.say(env="local")

    files = put_aside("release", story.content, story.now_s)

    (aside,) = files.keys() - {PATH}
    assert aside.startswith("_gates/release.")
    assert sorted(b"".join(files.values()).splitlines()) == sorted(story.content.splitlines())
    left = GateBook(read_facts(files[PATH], PATH)).open(story.now_s)
    assert [(each.env, how.state) for each, how in left] == [
        ("prod", "pending"),
        ("local", "approved"),
    ]
    assert ops_with_gates(files) == ["release"]


def test_a_file_of_what_still_counts_is_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops.gate_files.MAX_FILE_BYTES", 4000)
    story = Ledger()
    for number in range(20):
        story.run(env=f"env{number}")

    assert put_aside("release", story.content, story.now_s) == {PATH: story.content}


def test_a_kept_approval_that_many_runs_used_stays_and_its_uses_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ops.gate_files.MAX_FILE_BYTES", 4000)
    story = Ledger()
    story.run(reuse=True)
    story.say()
    for _ in range(30):
        story.run(reuse=True)
    story.content = put_aside("release", story.content, story.now_s)[PATH]

    assert len(story.content) < 4000
    assert story.run(reuse=True).state == "approved"


def test_a_ledger_of_many_passages_reads_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ops.gate_files.MAX_FILE_BYTES", 4000)
    opened = ledger(repository(tmp_path))
    gates = GateLedger(opened)
    for number in range(12):
        reach(gates, f"a{number}")
        gates.answer(GIVEN, NOW_S)
        assert reach(gates, f"b{number}") == "approved"

    tree = opened.branch.tree()
    assert len(tree.read(PATH) or b"") < 6000
    assert len(tree.blobs("_gates/")) > 1
    assert gates.open(NOW_S) == []
    assert reach(gates, "c") == "pending"
    ((pending, how),) = gates.open(NOW_S)
    assert (pending.run_id, how.state) == ("c", "pending")


@pytest.mark.parametrize("rounds", [4, 5, 6])
def test_no_approval_comes_back_when_ledgers_are_united(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    """One machine puts aside what another still has in its file, and writes to."""
    monkeypatch.setattr("ops.gate_files.MAX_FILE_BYTES", 4000)
    one, two = (checkout(tmp_path, name, "try") for name in ("one", "two"))
    mine, theirs = GateLedger(one), GateLedger(two)
    reach(mine, "first")
    mine.answer(GIVEN, NOW_S)
    assert two.refresh() is None
    (tmp_path / "remote.git").rename(tmp_path / "away")
    for gates, name in ((mine, "m"), (theirs, "t")):
        # Both use the approval: without the remote neither can know of the other.
        assert reach(gates, f"{name}-used") == "approved"
        for number in range(rounds):
            reach(gates, f"{name}{number}")
            gates.answer(GIVEN, NOW_S)
            assert reach(gates, f"{name}{number}-used") == "approved"
    (tmp_path / "away").rename(tmp_path / "remote.git")

    late_s = NOW_S + 60
    told = [
        gates.reach(replace(ASK, run_id=f"last-{name}"), late_s, Go())
        for gates, name in ((mine, "m"), (theirs, "t"))
    ]

    assert [(reached.fact["run_id"], warned) for reached, warned in told] == [("last-m", ())] * 2
    for opened in (one, two):
        assert opened.refresh() is None
        waiting = [(each.run_id, how.state) for each, how in GateLedger(opened).open(late_s)]
        assert waiting == [("last-m", "pending")]
