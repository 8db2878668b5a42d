"""Gates on a real branch: what is written, and what is not when something is wrong."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ops.errors import LedgerError
from ops.gate_files import gates_path
from ops.gate_ledger import GateLedger, Stopped
from ops.gates import GateAnswer, GateRefused
from ops.project import LedgerSettings
from ops.step_env import channel_of
from tests.ops.projects import git, project, repository
from tests.ops.test_gates import ASK, NOW_S
from tests.ops.test_ledger import ledger
from tests.ops.test_remote import checkout

if TYPE_CHECKING:
    from pathlib import Path

GIVEN = GateAnswer("release", "window", "approved", "bob", "cli")
PATH = gates_path("release")


class Go:
    """Whether a run was cancelled."""

    def __init__(self, *, stopped: bool = False) -> None:
        self._stopped = stopped

    def is_set(self) -> bool:
        return self._stopped


def reach(gates: GateLedger, run: str, **changes: Any) -> str:
    ask = replace(ASK, **{"run_id": run, **changes})
    return gates.reach(ask, NOW_S, Go())[0].state


def tip(folder: Path) -> str:
    return git(folder, "for-each-ref", "--format=%(objectname)", "refs/heads/chant/lifecycle")


def kinds(folder: Path) -> list[str]:
    text = git(folder, "show", f"chant/lifecycle:{PATH}")
    return [line.split('"kind":"')[1].split('"')[0] for line in text.split("\n")]


def test_a_run_is_let_through_once_and_each_fact_is_one_commit(tmp_path: Path) -> None:
    gates = GateLedger(ledger(repository(tmp_path)))

    states = [reach(gates, "1"), reach(gates, "2")]
    answered = gates.answer(GIVEN, NOW_S)
    states += [reach(gates, "3"), reach(gates, "4")]

    assert states == ["pending", "pending", "approved", "pending"]
    assert (answered.standing.state, answered.pending.run_id) == ("approved", "1")
    assert kinds(tmp_path) == ["pending", "approved", "passed", "pending"]
    assert git(tmp_path, "rev-list", "--count", "chant/lifecycle") == "4"


def test_a_question_that_stands_there_twice_is_answered_all_the_same(tmp_path: Path) -> None:
    """The answer was recorded, and then told as a fault of ours."""
    opened = ledger(repository(tmp_path))
    gates = GateLedger(opened)
    reach(gates, "1")
    opened.branch.change(PATH, lambda content: content * 2, "somebody's tool")

    answered = gates.answer(GIVEN, NOW_S)

    assert answered.standing.state == "approved"
    assert reach(gates, "2") == "approved"
    assert reach(gates, "3") == "pending"


def test_one_approval_lets_one_of_many_runs_through(tmp_path: Path) -> None:
    gates = GateLedger(ledger(repository(tmp_path)))
    reach(gates, "0")
    gates.answer(GIVEN, NOW_S)
    states: list[str] = []
    threads = [
        threading.Thread(target=lambda name=name: states.append(reach(gates, str(name))))
        for name in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(states) == ["approved"] + ["pending"] * 5


def test_people_who_approve_at_once_are_all_counted(tmp_path: Path) -> None:
    gates = GateLedger(ledger(repository(tmp_path)))
    reach(gates, "0", quorum=4)
    threads = [
        threading.Thread(target=gates.answer, args=(replace(GIVEN, approver=f"p{name}"), NOW_S))
        for name in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert reach(gates, "1", quorum=4) == "approved"


@pytest.mark.parametrize("given", [GIVEN, replace(GIVEN, channel="acp", attested=False)])
def test_a_refusal_moves_no_ref(tmp_path: Path, given: GateAnswer) -> None:
    gates = GateLedger(ledger(repository(tmp_path)))
    reach(gates, "0", channel="acp", roles=("ops",))
    before = tip(tmp_path)

    with pytest.raises(GateRefused):
        gates.answer(given, NOW_S)

    assert tip(tmp_path) == before


def test_an_answer_without_a_branch_makes_none(tmp_path: Path) -> None:
    gates = GateLedger(ledger(repository(tmp_path)))

    with pytest.raises(GateRefused, match="nothing-pending"):
        gates.answer(GIVEN, NOW_S)

    assert tip(tmp_path) == ""


def test_a_damaged_line_shuts_the_gate_and_takes_no_answer(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    gates = GateLedger(opened)
    reach(gates, "0")
    gates.answer(GIVEN, NOW_S)
    opened.branch.change(PATH, lambda old: old + b'{"version": 1, "kind": "rej', "damage")
    before = tip(tmp_path)

    with pytest.raises(LedgerError, match=r"line 3 of _gates/release\.jsonl .*: it is no JSON"):
        reach(gates, "1")
    with pytest.raises(LedgerError, match="line 3"):
        gates.answer(GIVEN, NOW_S)

    assert tip(tmp_path) == before


def test_a_lost_object_is_no_empty_ledger(tmp_path: Path) -> None:
    gates = GateLedger(ledger(repository(tmp_path)))
    reach(gates, "0")
    blob = git(tmp_path, "rev-parse", f"chant/lifecycle:{PATH}")
    os.unlink(tmp_path / ".git/objects" / blob[:2] / blob[2:])

    with pytest.raises(LedgerError):
        reach(gates, "1")


def test_what_can_not_be_written_leaves_the_gate_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ops.branch.PATIENCE_S", 0.05)
    gates = GateLedger(ledger(repository(tmp_path)))
    reach(gates, "0")
    before = tip(tmp_path)
    lock = tmp_path / ".git/refs/heads/chant/lifecycle.lock"
    lock.touch()

    with pytest.raises(LedgerError, match="File exists"):
        gates.answer(GIVEN, NOW_S)
    lock.unlink()

    assert tip(tmp_path) == before
    assert reach(gates, "1") == "pending"


def test_a_run_that_was_cancelled_uses_no_approval_up(tmp_path: Path) -> None:
    gates = GateLedger(ledger(repository(tmp_path)))
    reach(gates, "0")
    gates.answer(GIVEN, NOW_S)
    before = tip(tmp_path)

    with pytest.raises(Stopped):
        gates.reach(replace(ASK, run_id="1"), NOW_S, Go(stopped=True))

    assert tip(tmp_path) == before


def test_an_approval_on_one_machine_opens_the_gate_on_another_once(tmp_path: Path) -> None:
    one, two = (GateLedger(checkout(tmp_path, name)) for name in ("one", "two"))
    reach(one, "1")

    two.answer(GIVEN, NOW_S)

    assert reach(one, "2") == "approved"
    assert reach(two, "3") == "pending"


@pytest.mark.parametrize("verdict", ["passed", "rejected"])
def test_of_two_machines_that_use_one_approval_at_once_the_first_to_publish_goes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: str
) -> None:
    """Both wrote that they had, the two lines were united, and both went."""
    ledgers = [checkout(tmp_path, name) for name in ("one", "two", "three")]
    one, two, three = map(GateLedger, ledgers)
    reach(one, "1")
    two.answer(GIVEN, NOW_S)
    ledgers[2].refresh()
    monkeypatch.setattr("ops.ledger.Ledger.refresh", lambda *_: None)  # they looked just before

    if verdict == "passed":
        assert reach(two, "2") == "approved"
    else:
        two.answer(replace(GIVEN, verdict="rejected"), NOW_S)

    assert reach(three, "3") == "pending"
    assert kinds(tmp_path / "three")[:4] == ["pending", "approved", verdict, "passed"]
    assert three.open(NOW_S)[0][1].state == "pending"


def test_where_the_remote_is_required_and_gone_nothing_is_recorded(tmp_path: Path) -> None:
    opened = checkout(tmp_path, "one")
    gates = GateLedger(opened)
    reach(gates, "1")
    before = tip(tmp_path / "one")
    hook = tmp_path / "remote.git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(LedgerError, match="nothing was recorded"):
        gates.answer(GIVEN, NOW_S)
    assert tip(tmp_path / "one") == before
    (tmp_path / "remote.git").rename(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="could not be fetched"):
        reach(gates, "2")

    assert tip(tmp_path / "one") == before


def test_the_first_fact_of_all_is_undone_too_when_it_can_not_be_pushed(tmp_path: Path) -> None:
    gates = GateLedger(checkout(tmp_path, "one"))
    hook = tmp_path / "remote.git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(LedgerError, match="nothing was recorded"):
        reach(gates, "1")

    assert tip(tmp_path / "one") == ""


def test_where_pushing_is_only_tried_people_are_warned(tmp_path: Path) -> None:
    work = repository(tmp_path / "work")
    settings = LedgerSettings(remote=str(tmp_path / "gone.git"), push="try")
    gates = GateLedger(ledger(work, settings))

    _reached, warnings = gates.reach(ASK, NOW_S, Go())

    fetched, pushed = warnings
    assert "could not be fetched" in fetched
    assert "on this machine only" in pushed


def test_roles_are_declared_by_the_project(tmp_path: Path) -> None:
    text = '[project]\nname = "box"\n[roles]\nops = ["Ann", "bob"]\nlead = ["ann"]\n'

    box = project(tmp_path, {"chant.toml": text})

    assert box.roles_of(" ann ") == ("lead", "ops")
    assert box.roles_of("eve") == ()


@pytest.mark.parametrize(
    ("environ", "channel"),
    [({}, "cli"), ({"CHANT_CHANNEL": "acp"}, "acp"), ({"CHANT_CHANNEL": "terminal"}, "cli")],
)
def test_a_process_knows_its_channel(environ: dict[str, str], channel: str) -> None:
    assert channel_of(environ) == channel
