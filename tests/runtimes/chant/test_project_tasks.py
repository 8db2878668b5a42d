"""A run's work on a real repository: what it leaves behind, and when it leaves nothing."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from errno import ENOSPC
from typing import TYPE_CHECKING, Any

import pytest

from ops.project import LedgerSettings
from ops.run_state import RunState
from ops.run_values import Moment
from runtimes.chant.project_tasks import ProjectTasks
from runtimes.chant.run_tasks import Prepared, RunRefused, RunRequest
from tests.runtimes.chant.hosts import StillClock, Token
from tests.runtimes.chant.projects import (
    BROKEN,
    FAILING,
    RELEASE,
    ledger_lines,
    make_project,
    tree,
)

if TYPE_CHECKING:
    from pathlib import Path

DEPENDING = RELEASE.replace('name = "release"', 'name = "deploy"\ndepends = ["release"]')


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return make_project(
        tmp_path / "box", release=RELEASE, failing=FAILING, deploy=DEPENDING, broken=BROKEN
    )


def tasks(folder: Path, op: str, **given: Any) -> ProjectTasks:
    request = RunRequest(op=op, cwd=str(folder), environ=dict(os.environ), **given)
    return ProjectTasks(request, StillClock())


def prepared(work: ProjectTasks) -> Prepared:
    found = work.prepare(Token())
    assert isinstance(found, Prepared)
    return found


def final_record(run: Prepared) -> dict[str, Any]:
    record = RunState(run.plan, run.context).record(Moment(1_796_033_700.0, 0.0))
    return {**record, "status": "ok"}


def notes(folder: Path) -> list[str]:
    return [name for name in tree(folder / ".git") if name.startswith("chant/runs/")]


def test_a_run_is_noted_while_it_runs_and_kept_when_it_ends(box: Path) -> None:
    work = tasks(box, "release", params=("version=7",), env="prod")
    run = prepared(work)
    assert len(notes(box)) == 1
    assert run.plan.params == {"version": "7"}
    assert run.remarks == (
        "warning: ops/broken.op.toml:1: not valid TOML: Illegal character '\\n'",
    )

    work.mark_compensation(run)
    recorded = work.record(run, final_record(run))

    assert recorded.lost is None
    (line,) = ledger_lines(box, "prod", "release")
    assert json.loads(line)["id"] == run.context.run_id
    assert notes(box) == []


@pytest.mark.parametrize(("cancels", "patience_s"), [([], 60.0), ([{"hard": False}], 5.0)])
def test_the_record_of_a_cancelled_run_does_not_wait_long_for_the_remote(
    box: Path, monkeypatch: pytest.MonkeyPatch, cancels: list[object], patience_s: float
) -> None:
    """A remote that hears nothing once held up the answer to a cancel for a minute."""
    given_s: list[float] = []
    monkeypatch.setattr("ops.remote.Remote.push", lambda _remote, given: given_s.append(given))
    work = tasks(box, "release")
    run = prepared(work)
    settings = LedgerSettings(remote="origin", push="try")
    keeper = replace(run.keeper, ledger=replace(run.keeper.ledger, settings=settings))

    recorded = work.record(replace(run, keeper=keeper), {**final_record(run), "cancels": cancels})

    assert recorded.lost is None
    assert given_s == [patience_s]


def test_a_withdrawn_run_leaves_nothing(box: Path) -> None:
    work = tasks(box, "release")
    work.withdraw(prepared(work))

    assert notes(box) == []
    assert ledger_lines(box, "local", "release") == []


def test_a_cancelled_preparation_writes_nothing(box: Path) -> None:
    before, stop = tree(box), Token()
    stop.cancelled = True

    assert tasks(box, "release").prepare(stop) is None
    assert tree(box) == before


@pytest.mark.parametrize(
    ("op", "given", "code", "said"),
    [
        ("relaese", {}, 2, "unknown op 'relaese' (did you mean release?)"),
        ("broken", {}, 4, "ops/broken.op.toml:1: "),
        ("release", {"env": "prd"}, 2, "unknown environment 'prd' (did you mean prod?)"),
        ("release", {"params": ("version",)}, 2, "--param 'version' is not of the form NAME=VALUE"),
        ("release", {"params": ("a=1", "a=2")}, 2, "--param 'a' is given twice"),
        ("release", {"params": ("vresion=1",)}, 2, "(did you mean version?)"),
        ("deploy", {}, 4, "deploy depends on release, which is not ok in local: never run"),
        ("deploy", {"no_ledger": True}, 4, "not ok in local: unknown"),
    ],
)
def test_what_may_not_run_is_refused_and_changes_nothing(
    box: Path, op: str, given: dict[str, Any], code: int, said: str
) -> None:
    before = tree(box)

    found = tasks(box, op, **given).prepare(Token())

    assert isinstance(found, RunRefused)
    assert found.code == code
    assert said in found.reason
    assert tree(box) == before


def test_a_dependency_that_ran_well_or_is_waived_lets_the_op_run(box: Path) -> None:
    waived = prepared(tasks(box, "deploy", ignore_depends=True))
    assert waived.context.ignored_depends

    first = tasks(box, "release")
    run = prepared(first)
    first.record(run, final_record(run))
    assert isinstance(tasks(box, "deploy").prepare(Token()), Prepared)


def test_without_a_repository_only_a_run_without_a_record_starts(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "box", git=False, release=RELEASE)

    refused = tasks(folder, "release").prepare(Token())
    assert isinstance(refused, RunRefused)
    assert refused.reason.endswith("; with --no-ledger it runs and leaves no record")

    work = tasks(folder, "release", no_ledger=True)
    run = prepared(work)
    assert run.remarks == ("without the ledger: this run leaves no record",)
    assert work.record(run, final_record(run)).lost is None


def test_outside_a_project_a_run_is_refused(tmp_path: Path) -> None:
    found = tasks(tmp_path, "release").prepare(Token())

    assert isinstance(found, RunRefused)
    assert found.code == 4


def test_a_run_whose_process_died_is_reported_and_recorded(box: Path) -> None:
    run = prepared(tasks(box, "release"))
    (name,) = notes(box)
    note = box / ".git" / name
    note.write_text(json.dumps({**json.loads(note.read_text()), "pid": 2**22 + 1}))

    again = prepared(tasks(box, "failing"))

    assert (
        f"run {run.context.run_id} of release was interrupted: its process is gone" in again.remarks
    )
    (line,) = ledger_lines(box, "local", "release")
    assert json.loads(line)["status"] == "interrupted"


def test_a_record_that_cannot_be_written_keeps_the_note(box: Path) -> None:
    work = tasks(box, "release")
    run = prepared(work)
    # The branch's own name as a folder: the ref can't be written.
    (box / ".git" / "refs" / "heads" / "chant" / "lifecycle" / "x").mkdir(parents=True)
    (box / ".git" / "refs" / "heads" / "chant" / "lifecycle" / "x" / "y").touch()

    recorded = work.record(run, final_record(run))

    assert recorded.lost is not None
    assert len(notes(box)) == 1


def test_a_record_that_the_disk_cannot_take_is_brought_in_by_the_next_run(
    box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tasks(box, "release")
    run = prepared(work)
    monkeypatch.setattr("tempfile.TemporaryDirectory", _full)

    recorded = work.record(run, {**final_record(run), "ended": "2026-11-30T12:00:00.000Z"})

    assert recorded.lost is not None
    assert "No space left on device; it is kept beside it" in recorded.lost
    monkeypatch.undo()
    again = prepared(tasks(box, "failing"))
    assert f"run {run.context.run_id} of release is in the ledger now: ok" in again.remarks


def _full(**_given: object) -> None:
    raise OSError(ENOSPC, os.strerror(ENOSPC))


def test_a_run_whose_note_stays_is_in_the_ledger_all_the_same(box: Path) -> None:
    work = tasks(box, "release")
    run = prepared(work)
    notes_folder = box / ".git" / "chant" / "runs"
    shutil.rmtree(notes_folder)
    notes_folder.touch()

    recorded = work.record(run, final_record(run))

    assert recorded.lost is None
    assert "its note can't be taken away: Not a directory: " in recorded.remarks[0]
    assert len(ledger_lines(box, "local", "release")) == 1
