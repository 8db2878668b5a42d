from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from ops.doctor import Check, examine
from ops.errors import LedgerError
from ops.git import Git, GitFailed, git_environment
from ops.ledger import Ledger, NoLedger, open_ledger
from ops.project import LedgerSettings
from ops.taken_name import branch_in_the_way
from tests.ops.projects import git, repository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SETTINGS = LedgerSettings()
FAR_S = 4_102_444_800
"""The year 2100."""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def ledger(folder: Path, settings: LedgerSettings = SETTINGS) -> Ledger:
    opened = open_ledger(str(folder), settings)
    assert isinstance(opened, Ledger)
    return opened


def record(run_id: str, *, status: str = "ok", op: str = "release", **more: Any) -> dict[str, Any]:
    return {"version": 1, "id": run_id, "op": op, "env": "local", "status": status, **more}


def ids(records: tuple[Mapping[str, Any], ...]) -> list[str]:
    return [each["id"] for each in records]


def test_runs_are_appended_where_the_layout_says(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))

    opened.append_run(record("1"))
    opened.append_run(record("2", op="other"))
    opened.append_run(record("3", status="fail"))

    files = git(tmp_path, "ls-tree", "-r", "--name-only", "chant/lifecycle").split("\n")
    assert files == ["local/runs/other.jsonl", "local/runs/release.jsonl"]
    assert ids(opened.runs("local", "release").records) == ["1", "3"]
    newest = opened.newest("local", "release")
    assert newest is not None
    assert newest["status"] == "fail"
    assert opened.newest("prod", "release") is None


def test_head_index_and_working_tree_never_move(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "file.txt").write_text("changed\n")
    (tmp_path / "new.txt").write_text("staged\n")
    git(tmp_path, "add", "new.txt")
    before = (git(tmp_path, "status", "--porcelain"), git(tmp_path, "rev-parse", "HEAD"))
    index = (tmp_path / ".git/index").read_bytes()

    ledger(tmp_path).append_run(record("1"))

    assert (tmp_path / ".git/index").read_bytes() == index
    assert (git(tmp_path, "status", "--porcelain"), git(tmp_path, "rev-parse", "HEAD")) == before
    assert git(tmp_path, "rev-list", "--count", "chant/lifecycle") == "1"


def test_a_project_below_the_top_of_the_checkout_uses_the_same_branch(tmp_path: Path) -> None:
    repository(tmp_path)
    inner = tmp_path / "deep" / "project"
    inner.mkdir(parents=True)

    ledger(inner).append_run(record("1"))
    ledger(inner).append_run(record("2"))

    assert ids(ledger(tmp_path).runs("local", "release").records) == ["1", "2"]


def test_a_repository_without_a_commit_and_without_an_identity_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("EMAIL", raising=False)

    ledger(tmp_path).append_run(record("1"))

    assert git(tmp_path, "log", "-1", "--format=%an <%ae>", "chant/lifecycle") == (
        "chant <chant@localhost>"
    )


def test_a_configured_identity_is_used(tmp_path: Path) -> None:
    repository(tmp_path)
    git(tmp_path, "config", "user.name", "Ann")
    git(tmp_path, "config", "user.email", "ann@box")

    ledger(tmp_path).append_run(record("1"))

    assert git(tmp_path, "log", "-1", "--format=%cn <%ce>", "chant/lifecycle") == "Ann <ann@box>"


def test_variables_of_a_caller_inside_a_hook_lead_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = repository(tmp_path / "right"), repository(tmp_path / "wrong")
    monkeypatch.setenv("GIT_DIR", str(wrong / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(wrong / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(wrong))

    ledger(right).append_run(record("1"))

    monkeypatch.undo()
    assert git(wrong, "branch", "--list", "chant/lifecycle") == ""
    assert ids(ledger(right).runs("local", "release").records) == ["1"]


def test_hooks_do_not_run(tmp_path: Path) -> None:
    repository(tmp_path)
    hook = tmp_path / ".git/hooks/reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    hook.chmod(0o755)

    ledger(tmp_path).append_run(record("1"))

    assert not (tmp_path / "ran").exists()


def test_git_never_asks_a_person() -> None:
    env = git_environment({"GIT_ASKPASS": "x", "GIT_DIR": "y", "HOME": "/h"})

    assert env == {
        "HOME": "/h",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }


def test_outside_a_repository_there_is_a_reason(tmp_path: Path) -> None:
    opened = open_ledger(str(tmp_path), SETTINGS)

    assert isinstance(opened, NoLedger)
    assert "is not in a git repository" in opened.reason


def test_a_name_that_is_no_branch_is_a_reason(tmp_path: Path) -> None:
    opened = open_ledger(str(repository(tmp_path)), LedgerSettings(branch="a..b"))

    assert opened == NoLedger("'a..b' can't name a branch")


@pytest.mark.parametrize(
    ("code", "how"),
    [
        (-9, "was killed by SIGKILL"),
        (-25, "was killed by SIGXFSZ"),
        (-40, "was killed by signal 40"),
        (128, "failed (128)"),
    ],
)
def test_a_git_that_was_killed_says_nothing_of_the_branch_s_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, how: str
) -> None:
    real = Git.run

    def run(self: Git, *args: str, **given: Any) -> bytes:
        if args[0] == "check-ref-format":
            raise GitFailed(args[0], code, "")
        return real(self, *args, **given)

    monkeypatch.setattr(Git, "run", run)

    opened = open_ledger(str(repository(tmp_path / "work")), LedgerSettings())

    assert opened == NoLedger(f"git check-ref-format {how}: it said nothing")


def test_a_run_is_recorded_once_and_its_end_outranks_an_interruption(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))

    assert opened.append_run(record("1", status="interrupted")).commit is not None
    assert opened.append_run(record("1", status="interrupted")).commit is None
    assert opened.append_run(record("1")).commit is not None
    assert opened.append_run(record("1")).commit is None
    assert opened.append_run(record("1", status="interrupted")).commit is None

    statuses = [each["status"] for each in opened.runs("local", "release").records]
    assert statuses == ["interrupted", "ok"]


def test_a_damaged_line_is_counted_and_hides_nothing(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    opened.append_run(record("1"))
    opened.branch.change("local/runs/release.jsonl", lambda old: old + b'{"id": "cut', "damage")

    opened.append_run(record("2", note="\ud800 lone surrogate"))

    lines = opened.runs("local", "release")
    assert (ids(lines.records), lines.damaged) == (["1", "2"], 1)


def test_threads_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))

    def write(name: int) -> None:
        for turn in range(3):
            opened.append_run(record(f"{name}-{turn}", op=f"op{name % 2}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)

    written = [each for op in ("op0", "op1") for each in ids(opened.runs("local", op).records)]
    assert sorted(written) == sorted(f"{name}-{turn}" for name in range(8) for turn in range(3))
    assert git(tmp_path, "rev-list", "--count", "chant/lifecycle") == "24"


WRITER = """
import sys
from ops.ledger import open_ledger
from ops.project import LedgerSettings
from ops.taken_name import branch_in_the_way
ledger = open_ledger(sys.argv[1], LedgerSettings())
ledger.append_run({"id": sys.argv[2], "op": "release", "env": "local", "status": "ok"})
"""


def write_in_processes(folder: Path, count: int) -> None:
    env = {**os.environ, "PYTHONPATH": ROOT}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(folder), str(name)], env=env)
        for name in range(count)
    ]
    assert [writer.wait(200) for writer in writers] == [0] * count


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    repository(tmp_path)

    write_in_processes(tmp_path, 12)

    written = ids(ledger(tmp_path).runs("local", "release").records)
    assert sorted(written) == sorted(map(str, range(12)))


def test_writers_that_ignore_the_queue_lose_nothing(tmp_path: Path) -> None:
    repository(tmp_path)
    opened = ledger(tmp_path)
    # A file where the state folder should be: no lock can be made, only the swap is left.
    (tmp_path / ".git/chant").write_text("")
    threads = [
        threading.Thread(target=opened.append_run, args=(record(str(name)),)) for name in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(ids(opened.runs("local", "release").records)) == list("01234")


@pytest.mark.parametrize("moves", [True, False], ids=["moves", "stands still"])
def test_a_writer_waits_for_its_turn_as_long_as_the_queue_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, moves: bool
) -> None:
    monkeypatch.setattr("ops.branch.QUEUE_PATIENCE_S", 0.0)
    opened = ledger(repository(tmp_path))
    opened.append_run(record("0"))
    path = tmp_path / ".git/chant/ledger.lock"
    rounds = iter(range(1, 51))

    with path.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        def pause(_git: Git, _seconds: float) -> None:
            if (count := next(rounds)) == 50:
                fcntl.flock(other, fcntl.LOCK_UN)
            elif moves:
                os.utime(path, ns=(count, count))

        monkeypatch.setattr(Git, "pause", pause)
        opened.append_run(record("1"))

        dated_by_us = path.stat().st_mtime > 1
    assert ids(opened.runs("local", "release").records) == ["0", "1"]
    assert next(rounds, 51) == (51 if moves else 2)
    assert dated_by_us


def test_a_change_that_lost_the_race_starts_from_what_the_winner_wrote(tmp_path: Path) -> None:
    repository(tmp_path)
    mine, other = ledger(tmp_path), ledger(tmp_path).branch
    seen: list[bytes] = []

    def make(old: bytes) -> bytes:
        seen.append(old)
        if len(seen) == 1:
            swap_in(other, b"theirs\n")
        return old + b"mine\n"

    mine.branch.change("f", make, "mine")

    assert seen == [b"", b"theirs\n"]
    assert other.read("f", other.tip()) == b"theirs\nmine\n"


def swap_in(branch: Any, content: bytes) -> None:
    """Write past the queue, which the test itself holds."""
    tip = branch.tip()
    assert branch._swap(branch._commit({"f": content}, tip, "theirs"), tip) is None


def test_push_reaches_the_remote_or_says_loudly_that_it_did_not(tmp_path: Path) -> None:
    work = repository(tmp_path / "work")
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(work, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(work, "remote", "add", "gone", str(tmp_path / "gone.git"))

    good = ledger(work, LedgerSettings(remote="origin", push="require")).append_run(record("1"))
    tried = ledger(work, LedgerSettings(remote="gone", push="try")).append_run(record("2"))

    assert (good.pushed, good.warning) == (True, None)
    assert git(tmp_path / "remote.git", "rev-list", "--count", "chant/lifecycle") == "1"
    assert not tried.pushed
    assert "on this machine only" in str(tried.warning)
    with pytest.raises(LedgerError, match="on this machine only"):
        ledger(work, LedgerSettings(remote="gone", push="require")).append_run(record("3"))


@pytest.mark.parametrize("there", ["chant", "chant/lifecycle/old"])
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_branch_beside_which_none_can_be_begun_is_told_with_what_to_do(
    tmp_path: Path, there: str, *, packed: bool
) -> None:
    """The doctor once passed it, and every run ended in a message of git's."""
    opened = ledger(repository(tmp_path))
    git(tmp_path, "branch", there)
    if packed:
        git(tmp_path, "pack-refs", "--all")

    with pytest.raises(LedgerError) as raised:
        opened.append_run(record("1"))

    said = f"a branch {there} is there, and git makes none called chant/lifecycle beside it"
    hint = "rename it, or set another branch in [ledger] of chant.toml"
    assert raised.value.message == f"{said}: {hint}"
    assert branch_in_the_way(opened.git, "chant/lifecycle") == raised.value.message
    checks = {check.name: check for check in examine(str(tmp_path), os.environ)}
    assert checks["ledger"] == Check("ledger", "fail", raised.value.message)
    assert branch_in_the_way(opened.git, "chant-ledger") is None


def test_what_a_killed_writer_left_is_removed_once_it_can_be_nobodys(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    opened.append_run(record("1"))
    state = tmp_path / ".git/chant"
    young, old = state / "chant-index-young", state / "chant-index-old"
    for left in (young, old):
        left.mkdir()
        (left / "index.lock").touch()
    os.utime(young, (FAR_S, FAR_S))
    os.utime(old, (1, 1))

    opened.append_run(record("2"))

    assert [path.name for path in state.glob("chant-index-*")] == ["chant-index-young"]


def test_a_writer_keeps_its_index_where_the_next_one_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = ledger(repository(tmp_path))
    opened.append_run(record("1"))
    seen: list[str] = []
    run = Git.run

    def watched(git: Git, *args: str, **more: Any) -> bytes:
        if index := (more.get("env") or {}).get("GIT_INDEX_FILE"):
            seen.append(os.path.dirname(os.path.dirname(index)))
        return run(git, *args, **more)

    monkeypatch.setattr(Git, "run", watched)

    opened.append_run(record("2"))

    assert set(seen) == {str(tmp_path / ".git/chant")}
    assert not [*(tmp_path / ".git/chant").glob("chant-index-*")]


def test_a_lock_that_a_dead_git_left_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ops.branch.PATIENCE_S", 0.05)
    opened = ledger(repository(tmp_path))
    opened.append_run(record("1"))
    lock = tmp_path / ".git/refs/heads/chant/lifecycle.lock"
    lock.touch()

    with pytest.raises(LedgerError, match=r"lifecycle\.lock': File exists"):
        opened.append_run(record("2"))

    lock.unlink()
    opened.append_run(record("2"))
    assert ids(opened.runs("local", "release").records) == ["1", "2"]


def test_an_old_lock_is_not_waited_for_and_not_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pause(_git: Git, _seconds: float) -> None:
        pytest.fail("it waits")

    opened = ledger(repository(tmp_path))
    opened.append_run(record("1"))
    lock = tmp_path / ".git/refs/heads/chant/lifecycle.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    monkeypatch.setattr(Git, "pause", pause)

    with pytest.raises(LedgerError) as refused:
        opened.append_run(record("2"))

    assert f"{lock} is in the way, " in refused.value.message
    assert "remove it if no git works in this repository" in refused.value.message
    assert lock.exists()


def test_a_lock_that_goes_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = ledger(repository(tmp_path))
    opened.append_run(record("1"))
    lock = tmp_path / ".git/refs/heads/chant/lifecycle.lock"
    lock.touch()
    os.utime(lock, (FAR_S, FAR_S))
    monkeypatch.setattr(Git, "pause", lambda _git, _seconds: lock.unlink())

    opened.append_run(record("2"))

    assert ids(opened.runs("local", "release").records) == ["1", "2"]


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a\nb"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LedgerError, match="can't name a file"):
        ledger(repository(tmp_path)).append_run(record("1", op=name))


def test_a_branch_that_can_not_be_read_is_an_error_and_not_an_empty_ledger(
    tmp_path: Path,
) -> None:
    opened = ledger(repository(tmp_path))
    opened.append_run(record("1"))
    blob = git(tmp_path, "rev-parse", "chant/lifecycle:local/runs/release.jsonl")
    os.unlink(tmp_path / ".git/objects" / blob[:2] / blob[2:])

    with pytest.raises(LedgerError):
        opened.runs("local", "release")
    with pytest.raises(LedgerError):
        opened.append_run(record("2"))


@pytest.mark.parametrize("damage", ["1" * 40 + "\n", "0" * 40 + "\n", "", "\0" * 41, None])
def test_a_branch_that_names_no_commit_is_an_error_and_not_an_empty_ledger(
    tmp_path: Path, damage: str | None
) -> None:
    opened = ledger(repository(tmp_path))
    opened.append_run(record("1"))
    ref = tmp_path / ".git/refs/heads/chant/lifecycle"
    if damage is None:
        commit = ref.read_text().strip()
        git(tmp_path, "pack-refs", "--all")
        (tmp_path / ".git/objects" / commit[:2] / commit[2:]).unlink()
    else:
        ref.write_text(damage)

    with pytest.raises(LedgerError, match="its newest commit can't be read"):
        opened.runs("local", "release")
    with pytest.raises(LedgerError, match="its newest commit can't be read"):
        opened.append_run(record("2"))
    assert damage is None or ref.read_text() == damage


def test_each_line_is_one_json_value(tmp_path: Path) -> None:
    opened = ledger(repository(tmp_path))
    opened.append_run(record("1", note="two\nlines"))

    text = git(tmp_path, "show", "chant/lifecycle:local/runs/release.jsonl")

    assert json.loads(text)["note"] == "two\nlines"


ENDLESS = """
import itertools, sys
from ops.ledger import open_ledger
from ops.project import LedgerSettings
from ops.taken_name import branch_in_the_way
ledger = open_ledger(sys.argv[1], LedgerSettings())
for turn in itertools.count():
    ledger.append_run({"id": f"{sys.argv[2]}-{turn}", "op": "x", "env": "local", "status": "ok"})
    print(turn, flush=True)
"""


def test_a_writer_killed_at_any_moment_leaves_a_branch_that_reads_and_takes_more(
    tmp_path: Path,
) -> None:
    repository(tmp_path)
    env = {**os.environ, "PYTHONPATH": ROOT}
    told: list[str] = []
    for name in range(4):
        argv = [sys.executable, "-c", ENDLESS, str(tmp_path), str(name)]
        with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            told += [f"{name}-{writer.stdout.readline().strip()}" for _ in range(1 + name % 2)]
            writer.kill()

    opened = ledger(tmp_path)
    opened.append_run(record("after", op="x"))

    lines = opened.runs("local", "x")
    assert lines.damaged == 0
    assert set(told) | {"after"} <= set(ids(lines.records))
    git(tmp_path, "fsck", "--strict")
