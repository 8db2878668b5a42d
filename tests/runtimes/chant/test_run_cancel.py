"""``chant run cancel``: another process's run stops, cleans up and records itself."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from actors.turn import AbortStep, EndTurn, StepEnded
from actors.work import CallableWork, StepEnd
from ops.in_flight import InFlight
from runtimes.chant.cancel_watch import MAX_FAULTS, WATCH
from runtimes.chant.op_turn import PREPARE, RECORD, OpTurn
from runtimes.chant.run_tasks import Prepared
from tests.runtimes.chant.hosts import FakeTasks, PlayedHost, StillClock, two_phases
from tests.runtimes.chant.projects import ledger_lines, make_project
from tests.runtimes.chant.talk import chant, prompt
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ops.git import Stopping
    from ops.in_flight import Waiting, Wish
    from runtimes.chant.run_tasks import RunRefused

SLOW = """\
name = "slow"

[[phases]]
name = "Work"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "echo at work; exec sleep 600" }

[[on_failure]]
name = "Undo"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = "echo undone; if [ -e linger ]; then echo lingering; exec sleep 600; fi" }
"""


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return make_project(tmp_path / "box", slow=SLOW)


@pytest.fixture
def running(box: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in a process of its own that has printed its first line."""
    with subprocess.Popen(
        [script("chant"), "run", "slow"], cwd=box, stdout=subprocess.PIPE, text=True
    ) as run:
        until(run, "at work")
        yield run
        run.kill()


def until(run: subprocess.Popen[str], text: str) -> None:
    assert run.stdout is not None
    for line in run.stdout:
        if line.rstrip().endswith(text):
            return
    pytest.fail(f"{text!r} was never said")


def record(box: Path) -> dict[str, Any]:
    (line,) = ledger_lines(box, "local", "slow")
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_run_of_another_process_is_cancelled_and_cleans_up(
    box: Path, running: subprocess.Popen[str]
) -> None:
    said = chant(box, "run", "cancel", "slow", "--wait", "60", "--json")

    out, _ = running.communicate(timeout=60)
    assert (said.code, said.document["ended"], said.document["pid"]) == (0, True, running.pid)
    assert running.returncode == 130
    assert "undone" in out
    assert (record(box)["status"], record(box)["compensation"]) == ("cancelled", "ok")
    assert os.listdir(box / ".git/chant/runs") == []


def test_a_session_cancels_by_id(box: Path, running: subprocess.Popen[str]) -> None:
    run_id = chant(box, "run", "list", "--json").document["running"][0]["id"]

    code, document = prompt(box, f"run cancel {run_id} --wait 60")

    assert (code, document["run_id"]) == (0, run_id)
    running.communicate(timeout=60)
    assert running.returncode == 130


def test_a_second_and_hard_one_ends_the_clean_up(box: Path, running: subprocess.Popen[str]) -> None:
    (box / "linger").touch()
    assert chant(box, "run", "cancel", "slow", "--wait", "0").code == 1
    until(running, "lingering")

    said = chant(box, "run", "cancel", "slow", "--hard", "--wait", "60")

    running.communicate(timeout=60)
    assert "; it has ended" in said.out
    assert (record(box)["status"], record(box)["compensation"]) == ("cancelled", "failed")


def test_what_does_not_run_can_not_be_cancelled(box: Path) -> None:
    nothing = chant(box, "run", "cancel", "slow")
    unknown = chant(box, "run", "cancel", "slwo")

    assert (nothing.code, unknown.code) == (4, 2)
    assert "slow does not run in local; running: nothing" in nothing.err
    assert "did you mean slow?" in unknown.err
    assert chant(box, "run", "cancel", "slow", "--wait", "x").code == 2


def test_a_note_of_a_dead_process_or_of_another_machine_is_not_asked(box: Path) -> None:
    notes = InFlight(str(box / ".git/chant"))
    marker = notes.begin({"id": "1", "op": "slow", "env": "local", "status": "running"})
    note = json.loads((box / ".git/chant/runs/1.json").read_text())

    (box / ".git/chant/runs/1.json").write_text(json.dumps({**note, "start_time": "other"}))
    dead = chant(box, "run", "cancel", "slow")
    (box / ".git/chant/runs/1.json").write_text(json.dumps({**note, "host": "elsewhere"}))
    elsewhere = chant(box, "run", "cancel", "slow")

    assert (dead.code, elsewhere.code) == (4, 4)
    assert "goes on on elsewhere: cancel it there" in elsewhere.err
    marker.end()


def test_of_several_runs_one_must_be_named(box: Path) -> None:
    notes = InFlight(str(box / ".git/chant"))
    markers = [
        notes.begin({"id": run_id, "op": "slow", "env": "local", "status": "running"})
        for run_id in ("20261130-101500123-00000001", "20261130-101500123-00000002")
    ]

    both = chant(box, "run", "cancel", "slow")
    one = chant(box, "run", "cancel", "20261130-101500123-00000002", "--json")

    assert "slow runs 2 times: name one of 20261130-101500123-00000001, " in both.err
    assert one.document["run_id"].endswith("2")
    for marker in markers:
        marker.end()
    assert os.listdir(box / ".git/chant/runs") == []


class Wishes(FakeTasks):
    """Tasks of a run that can be asked to stop."""

    def prepare(self, stop: Stopping) -> Prepared | RunRefused | None:
        from dataclasses import replace

        found = super().prepare(stop)
        return replace(found, watch=self.wait) if isinstance(found, Prepared) else found

    def wait(self, stop: Waiting, heard: Wish | None) -> Wish | None:
        self.heard = heard
        stop.wait(0)
        return None


def begun() -> PlayedHost:
    host = PlayedHost(OpTurn(Wishes(two_phases()), StillClock(), "k")).start()
    host.perform(PREPARE)
    return host


def wish(host: PlayedHost, value: Wish | None) -> None:
    del host.running[WATCH]
    host.hear(StepEnded(StepEnd(WATCH, "returned", value=value)))


def test_a_run_listens_until_it_is_over() -> None:
    host = begun()
    assert WATCH in host.running

    for step_id in ("pack", "test", "copy"):
        host.end(step_id)

    assert WATCH in host.aborted
    wish(host, None)
    host.perform(RECORD)
    assert isinstance(host.effects[-1], EndTurn)


def test_a_wish_cancels_once_and_a_harder_one_may_follow() -> None:
    host = begun()

    wish(host, "cancel")

    assert AbortStep("pack") in host.effects
    again = host.running[WATCH].work
    assert isinstance(again, CallableWork)
    host.end("pack", "cancelled")
    wish(host, "hard_stop")
    assert WATCH not in host.running


def test_a_wait_that_a_fault_ends_is_begun_again_a_few_times() -> None:
    host = begun()

    for _ in range(MAX_FAULTS):
        host.end(WATCH, "lost")
        assert WATCH in host.running
    host.end(WATCH, "failed")

    assert WATCH not in host.running
    assert host.result is None


def test_a_wish_that_comes_too_late_changes_nothing() -> None:
    host = begun()
    for step_id in ("pack", "test", "copy"):
        host.end(step_id)

    wish(host, "cancel")
    host.perform(RECORD)

    assert host.result is not None
    assert host.result.stop_reason == "end_turn"


def test_a_wish_is_heard_from_its_file_and_told_from_the_one_before(tmp_path: Path) -> None:
    notes = InFlight(str(tmp_path))
    marker = notes.begin({"id": "1"})
    (living,) = notes.living()
    stop = threading.Event()

    living.ask("cancel")
    assert marker.wait_for_wish(stop, None) == "cancel"
    living.ask("hard_stop")
    assert marker.wait_for_wish(stop, "cancel") == "hard_stop"
    stop.set()
    assert marker.wait_for_wish(stop, None) is None

    marker.end()
    assert not living.goes_on
