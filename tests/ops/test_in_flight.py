from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from errno import ENOSPC
from typing import TYPE_CHECKING, Any

import pytest

from ops.errors import LedgerError
from ops.faults import BEFORE_WRITE
from ops.in_flight import InFlight, settle_interrupted
from ops.processes import start_time
from ops.project import LedgerSettings
from tests.ops.projects import repository
from tests.ops.test_ledger import ledger, record

if TYPE_CHECKING:
    from pathlib import Path


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def bury(marker_path: str, **changes: Any) -> None:
    """Make a note look as if another process had left it."""
    with open(marker_path) as stream:
        note = json.load(stream)
    with open(marker_path, "w") as stream:
        json.dump({**note, **changes}, stream)


def test_a_run_of_a_process_that_lives_is_left_alone(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    marker = InFlight(opened.state_dir).begin(record("1", status="running"))

    assert settle_interrupted(opened, 1000.0) == ()
    marker.end()
    marker.end()
    assert os.listdir(os.path.join(opened.state_dir, "runs")) == []


def test_a_run_whose_process_is_gone_is_recorded_as_interrupted_once(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    marker = InFlight(opened.state_dir).begin(record("1", status="running"))
    marker.mark_compensation()
    bury(marker.path, pid=dead_pid())

    (settled,) = settle_interrupted(opened, 1000.0)

    assert (settled["status"], settled["compensation"]) == ("interrupted", "partial")
    assert settled["ended"] == "1970-01-01T00:16:40.000Z"
    assert settle_interrupted(opened, 1000.0) == ()
    assert [each["status"] for each in opened.runs("local", "release").records] == ["interrupted"]


def test_a_number_that_was_given_to_another_process_does_not_deceive(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    marker = InFlight(opened.state_dir).begin(record("1", status="running"))
    bury(marker.path, start_time="another-boot:1")

    assert len(settle_interrupted(opened, 1000.0)) == 1


def test_a_run_that_was_recorded_before_its_note_went_is_not_interrupted(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    marker = InFlight(opened.state_dir).begin(record("1", status="running"))
    opened.append_run(record("1"))
    bury(marker.path, pid=dead_pid())

    assert settle_interrupted(opened, 1000.0) == ()
    assert [each["status"] for each in opened.runs("local", "release").records] == ["ok"]
    assert not os.path.exists(marker.path)


def test_a_run_of_another_machine_is_left_alone(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    marker = InFlight(opened.state_dir).begin(record("1", status="running"))
    bury(marker.path, host="elsewhere", pid=dead_pid())

    assert settle_interrupted(opened, 1000.0) == ()


def test_a_note_that_is_none_is_passed_over(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    assert settle_interrupted(opened, 1000.0) == ()
    os.makedirs(os.path.join(opened.state_dir, "runs"))
    for name, text in (("a.json", "{"), ("b.json", "[]"), ("c.txt", "x")):
        with open(os.path.join(opened.state_dir, "runs", name), "w") as stream:
            stream.write(text)

    assert settle_interrupted(opened, 1000.0) == ()


def test_a_process_has_one_start_time_and_a_dead_one_none() -> None:
    assert start_time(os.getpid()) == start_time(os.getpid())
    assert start_time(1) not in {None, start_time(os.getpid())}
    assert start_time(dead_pid()) is None


@pytest.mark.parametrize("hidden", [FileNotFoundError, PermissionError])
def test_a_run_whose_process_is_hidden_from_us_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: type[OSError]
) -> None:
    """With ``hidepid`` /proc shows nobody else's processes: their runs are left alone."""
    opened = ledger(repository(tmp_path))
    notes = InFlight(opened.state_dir)
    living, dead = (notes.begin(record(each, status="running")) for each in "12")
    bury(dead.path, pid=dead_pid())

    def refuse(path: str, mode: str) -> None:
        raise hidden(path, mode)

    monkeypatch.setattr("ops.processes.open", refuse, raising=False)

    assert [each.path for each in notes.living()] == [living.path]
    assert [each.path for each, _ in notes.abandoned()] == [dead.path]


def test_a_run_that_the_ledger_could_not_take_is_brought_in_as_it_ended(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    stub = {**record("1", status="running"), "ended": None}
    marker = InFlight(opened.state_dir).begin(stub)
    ended = {**stub, "status": "ok", "ended": "2026-11-30T12:00:00.000Z"}

    assert marker.keep(ended)

    assert list(InFlight(opened.state_dir).living()) == []
    assert settle_interrupted(opened, 1000.0) == (ended,)
    assert settle_interrupted(opened, 1000.0) == ()
    assert opened.newest("local", "release") == ended


def test_a_repository_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    opened = ledger(folder)
    stub = {**record("1", status="running"), "ended": None}
    marker = InFlight(opened.state_dir).begin(stub)
    away = tmp_path / "away"
    (folder / ".git").rename(away)

    assert not marker.keep({**stub, "status": "ok", "ended": "2026-11-30T12:00:00.000Z"})
    with pytest.raises(FileNotFoundError):
        marker.mark_compensation()
    with pytest.raises(LedgerError, match="not a git repository"):
        opened.append_run(record("1"))

    assert not (folder / ".git").exists()
    away.rename(folder / ".git")
    assert marker.keep({**stub, "status": "ok", "ended": "2026-11-30T12:00:00.000Z"})


def test_a_run_whose_last_word_finds_no_room_does_not_go_on_for_ever(tmp_path: Path) -> None:
    """It was shown as running for as long as its server lived, which may be months."""
    opened = ledger(repository(tmp_path))
    stub = {**record("1", status="running"), "ended": None}
    ended = {**stub, "status": "ok", "ended": "2026-11-30T12:00:00.000Z"}
    marker = replace(InFlight(opened.state_dir).begin(stub), faults=FullDisk())

    assert not marker.keep(ended)

    notes = InFlight(opened.state_dir)
    assert list(notes.living()) == []
    assert [each["status"] for each in notes.unrecorded("local")] == ["interrupted"]
    (settled,) = settle_interrupted(opened, 1000.0)
    assert settled["status"] == "interrupted"
    assert os.listdir(os.path.join(opened.state_dir, "runs")) == []


def test_a_last_word_that_finds_room_later_is_the_only_one(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    stub = {**record("1", status="running"), "ended": None}
    ended = {**stub, "status": "ok", "ended": "2026-11-30T12:00:00.000Z"}
    marker = InFlight(opened.state_dir).begin(stub)
    assert not replace(marker, faults=FullDisk()).keep(ended)

    assert marker.keep(ended)

    assert settle_interrupted(opened, 1000.0) == (ended,)
    assert os.listdir(os.path.join(opened.state_dir, "runs")) == []


class FullDisk:
    """Faults that leave no room for anything new."""

    def at(self, name: str, who: str = "") -> None:
        if name == BEFORE_WRITE.name:
            raise OSError(ENOSPC, os.strerror(ENOSPC), who)


def test_a_run_before_that_can_not_be_recorded_is_named(tmp_path: Path) -> None:
    """What was refused once said nothing of why another run's record was in its way."""
    settings = LedgerSettings(remote="origin", push="require")
    opened = ledger(repository(tmp_path), settings)
    marker = InFlight(opened.state_dir).begin(record("1", status="running"))
    bury(marker.path, pid=dead_pid())

    with pytest.raises(LedgerError) as raised:
        settle_interrupted(opened, 1000.0)

    began = "run 1, which is over, must be recorded first: the record is on this machine only: git"
    assert raised.value.message.startswith(began)


def test_a_folder_of_notes_that_is_gone_is_made_anew(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    stub = {**record("1", status="running"), "ended": None}
    marker = InFlight(opened.state_dir).begin(stub)
    shutil.rmtree(opened.state_dir)

    marker.mark_compensation()

    assert [each.compensating for each in InFlight(opened.state_dir).living()] == [True]
