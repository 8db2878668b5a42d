"""The lease on an environment: one holder, free when the holder is gone in whatever way."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ops.lease import LeaseHeld, holder, read_note, take_lease
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """\
import sys
from ops.lease import take_lease
lease = take_lease(sys.argv[1], "prod", "box-steward", "2026-11-30T12:00:00.000Z")
print("held", flush=True)
sys.stdin.read()
"""


def start_holder(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_one_process_at_a_time_has_the_lease_and_others_hear_which(tmp_path: Path) -> None:
    with start_holder(tmp_path) as other:
        with pytest.raises(LeaseHeld) as caught:
            take_lease(str(tmp_path), "prod", "mine", "now")
        found = holder(str(tmp_path), "prod")
        other.communicate()

    assert f"prod is operated by process {other.pid} on {os.uname().nodename}" in str(caught.value)
    assert "for steward box-steward, since 2026-11-30T12:00:00.000Z" in str(caught.value)
    assert found is not None
    assert found["pid"] == other.pid


def test_the_lease_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    with start_holder(tmp_path) as other:
        os.kill(other.pid, signal.SIGKILL)
        other.wait()

    assert read_note(str(tmp_path), "prod") is not None
    assert holder(str(tmp_path), "prod") is None
    lease = take_lease(str(tmp_path), "prod", "mine", "now")
    assert lease.note["steward"] == "mine"
    lease.end()


def test_environments_have_leases_of_their_own(tmp_path: Path) -> None:
    prod = take_lease(str(tmp_path), "prod", "a", "now")
    local = take_lease(str(tmp_path), "local", "b", "now")

    prod.end()
    local.end()
    prod.end()

    assert holder(str(tmp_path), "prod") is None


def test_two_in_one_process_exclude_each_other_too(tmp_path: Path) -> None:
    lease = take_lease(str(tmp_path), "prod", "a", "now")

    with pytest.raises(LeaseHeld):
        take_lease(str(tmp_path), "prod", "b", "now")

    lease.end()
    take_lease(str(tmp_path), "prod", "b", "now").end()


def test_a_note_that_is_none_of_ours_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "operator").mkdir()
    for text in ("", "{", "[]", '{"pid": 1}'):
        (tmp_path / "operator" / "prod.lease").write_text(text)

        assert read_note(str(tmp_path), "prod") is None


def test_a_lease_whose_note_could_not_be_written_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match="No space"):
            take_lease(str(tmp_path), "prod", "mine", "now")

    take_lease(str(tmp_path), "prod", "mine", "now").end()


def test_a_lease_ends_also_where_its_note_can_not_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    lease = take_lease(str(tmp_path), "prod", "mine", "now")
    with monkeypatch.context() as patched:
        patched.setattr(os, "truncate", broken)
        with pytest.raises(OSError, match="Input/output"):
            lease.end()

    take_lease(str(tmp_path), "prod", "mine", "now").end()
