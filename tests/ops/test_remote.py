"""Two checkouts that push to one remote: nothing is lost, nothing is forced."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from ops.errors import LedgerError
from ops.gate_ledger import GateLedger
from ops.git import GitFailed
from ops.in_flight import InFlight, settle_interrupted
from ops.points_asking import Settled
from ops.points_ledger import PointLedger
from ops.project import LedgerSettings
from ops.push_refusals import Refusal, judge
from ops.remote import Remote
from tests.ops.projects import git, repository
from tests.ops.silent_remote import SilentRemote
from tests.ops.test_gates import ASK, NOW_S
from tests.ops.test_in_flight import bury, dead_pid
from tests.ops.test_ledger import ids, ledger, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ops.ledger import Ledger

BRANCH = "chant/lifecycle"
QUESTION = {"id": "ship-it-0123456789ab", "point": "ship-it", "state": "open"}


def checkout(folder: Path, name: str, push: str = "require") -> Ledger:
    work = repository(folder / name)
    if not (folder / "remote.git").exists():
        git(folder, "init", "-q", "--bare", "remote.git")
    git(work, "remote", "add", "origin", str(folder / "remote.git"))
    return ledger(work, LedgerSettings(remote="origin", push=push))  # type: ignore[arg-type]


def published(folder: Path) -> str:
    return git(folder / "remote.git", "show", f"{BRANCH}:local/runs/release.jsonl")


def test_a_rejected_push_is_united_with_what_was_there_and_tried_again(tmp_path: Path) -> None:
    one, two = checkout(tmp_path, "one"), checkout(tmp_path, "two")

    one.append_run(record("1"))
    second = two.append_run(record("2"))
    third = one.append_run(record("3"))

    assert (second.pushed, third.pushed) == (True, True)
    assert ids(one.runs("local", "release").records) == ["1", "2", "3"]
    assert [line.count('"id":"') for line in published(tmp_path).split("\n")] == [1, 1, 1]
    parents = git(tmp_path / "remote.git", "log", "-1", "--format=%P", BRANCH).split()
    assert len(parents) == 2
    git(tmp_path / "remote.git", "fsck", "--strict")


def test_what_others_pushed_is_fetched_before_it_is_needed(tmp_path: Path) -> None:
    one, two = checkout(tmp_path, "one"), checkout(tmp_path, "two")
    one.append_run(record("1"))

    assert two.refresh() is None

    assert ids(two.runs("local", "release").records) == ["1"]
    assert two.branch.tip() == one.branch.tip()


def test_a_fetch_writes_no_ref_but_its_own(tmp_path: Path) -> None:
    """It also wrote the remote's branch as git keeps it, and two processes fell out over that."""
    one, two = checkout(tmp_path, "one"), checkout(tmp_path, "two")
    one.append_run(record("1"))

    two.refresh()

    refs = git(tmp_path / "two", "for-each-ref", "--format=%(refname)").split()
    assert [ref for ref in refs if ref.startswith("refs/remotes/")] == []
    assert [ref for ref in refs if ref.startswith("refs/chant/")] != []


def test_a_remote_without_the_branch_is_an_empty_one(tmp_path: Path) -> None:
    one = checkout(tmp_path, "one")

    assert one.refresh() is None
    assert one.branch.tip() is None


def test_a_shallow_clone_without_the_branch_gets_it_and_pushes_to_it(tmp_path: Path) -> None:
    checkout(tmp_path, "one").append_run(record("1"))
    git(tmp_path / "one", "push", "-q", "origin", "main")
    remote = f"file://{tmp_path}/remote.git"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=main", "--single-branch", remote, "shallow")
    settings = LedgerSettings(remote="origin", push="require")

    shallow = ledger(tmp_path / "shallow", settings)
    appended = shallow.append_run(record("2"))

    assert appended.pushed
    assert ids(shallow.runs("local", "release").records) == ["1", "2"]
    assert len(published(tmp_path).split("\n")) == 2


def test_a_remote_that_is_gone_stops_a_project_that_requires_it_and_warns_another(
    tmp_path: Path,
) -> None:
    strict, easy = checkout(tmp_path, "one"), checkout(tmp_path, "two", "try")
    (tmp_path / "remote.git").rename(tmp_path / "elsewhere")

    with pytest.raises(LedgerError, match="could not be fetched"):
        strict.refresh()
    assert "could not be fetched" in str(easy.refresh())


def test_a_remote_that_refuses_is_not_asked_again(tmp_path: Path) -> None:
    strict = checkout(tmp_path, "one")
    hook = tmp_path / "remote.git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(LedgerError, match=r"on this machine only.*not today"):
        strict.append_run(record("1"))

    assert ids(strict.runs("local", "release").records) == ["1"]


def before_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[SilentRemote, Ledger]:
    """Return a remote that hears nothing, and the ledger of a clone that talks to it."""
    remote = SilentRemote(tmp_path)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(remote.command))
    monkeypatch.setattr("ops.git.HURRY_S", 0.0)
    easy = checkout(tmp_path, "one", "try")
    git(tmp_path / "one", "remote", "set-url", "origin", "ssh://nowhere.invalid/box")
    return remote, easy


def test_a_remote_that_hears_nothing_is_given_up_with_all_that_talks_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ssh without a limit of its own once lived on for ever, whoever had waited for it."""
    remote, easy = before_silence(tmp_path, monkeypatch)

    appended = easy.append_run(record("1"), remote)

    assert appended.warning == (
        "the record is on this machine only:"
        " git push was given up, since nobody waits for it any more"
    )
    assert ids(easy.runs("local", "release").records) == ["1"]
    assert remote.is_gone()


@pytest.mark.parametrize(
    "ask",
    [
        lambda ledger, stop: GateLedger(ledger).reach(ASK, NOW_S, stop),
        lambda ledger, stop: PointLedger(ledger).refresh(stop),
        lambda ledger, stop: PointLedger(ledger).keep(Settled(QUESTION), stop),
    ],
    ids=["gate", "question", "asking"],
)
def test_a_run_that_is_cancelled_while_it_fetches_what_others_said_leaves_nobody_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Ledger, SilentRemote], object]
) -> None:
    remote = SilentRemote(tmp_path)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(remote.command))
    monkeypatch.setattr("ops.git.HURRY_S", 0.0)
    strict = checkout(tmp_path, "one")
    git(tmp_path / "one", "remote", "set-url", "origin", "ssh://nowhere.invalid/box")

    with pytest.raises(LedgerError, match=r"git (fetch|push) was given up, since nobody waits"):
        ask(strict, remote)

    assert remote.is_gone()
    assert strict.branch.tip() is None


class Refusing:
    """A git, a branch and a token in one, whose pushes are refused; notes what it is asked."""

    ref = "refs/heads/chant/lifecycle"

    def __init__(self, *refusals: str) -> None:
        self.refusals = list(refusals)
        self.asked: list[str] = []
        self.given_s: list[float] = []
        self.stopped = False
        self.stops_in_pause = False

    def run(self, *args: str, timeout_s: float, **_more: object) -> bytes:
        self.asked.append(args[0])
        self.given_s.append(timeout_s)
        if args[0] == "push" and self.refusals:
            raise GitFailed(args[0], 1, self.refusals.pop(0))
        return b""

    def text(self, *_args: str) -> str:
        return "aaaa"

    def pause(self, _seconds: float) -> None:
        self.asked.append("pause")
        self.stopped = self.stops_in_pause

    def is_set(self) -> bool:
        return self.stopped

    def merge(self, _published: str) -> None:
        """Nothing to unite."""

    def remote(self) -> Remote:
        it = cast("Any", self)
        return Remote(it, it, "origin", it)


def test_a_push_that_is_stopped_in_its_pause_talks_to_the_remote_no_more() -> None:
    git_ = Refusing("(non-fast-forward)", "(non-fast-forward)")
    git_.stops_in_pause = True

    with pytest.raises(GitFailed, match="non-fast-forward"):
        git_.remote().push()

    assert git_.asked == ["push", "pause"]


def test_all_talks_of_a_push_share_its_time() -> None:
    git_ = Refusing("(non-fast-forward)")

    git_.remote().push(30)

    assert git_.asked == ["push", "pause", "fetch", "push"]
    assert 30 >= git_.given_s[0] > git_.given_s[1] > git_.given_s[2]


class RacingFetch(Refusing):
    """Another process of the same clone writes what it has fetched at the same moment."""

    def run(self, *args: str, timeout_s: float, **more: object) -> bytes:
        if args[0] == "fetch" and self.refusals:
            self.asked.append("fetch")
            kept = args[-1].partition(":")[2]
            raise GitFailed(args[0], 1, self.refusals.pop(0).format(kept))
        return super().run(*args, timeout_s=timeout_s, **more)


def test_two_processes_of_one_clone_may_fetch_at_once() -> None:
    """The loser told that it could not fetch, and its run failed at its gate."""
    git_ = RacingFetch("cannot lock ref '{}': is at 1 but expected 2")

    assert git_.remote().fetch() == "aaaa"

    assert git_.asked == ["fetch", "pause", "fetch"]


LOCKED = (
    "remote: error: cannot lock ref 'refs/heads/chant/lifecycle': Unable to create"
    " '/srv/box.git/./refs/heads/chant/lifecycle.lock': File exists.\nremote: \n"
    " ! [remote rejected] chant/lifecycle -> chant/lifecycle (failed to update ref)"
)
SHUT = LOCKED.replace("File exists", "Permission denied")
TAKEN = "cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'"


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ("! [rejected] a -> a (fetch first)", Refusal(passing=True)),
        ("cannot lock ref 'x': is at 1 but expected 2", Refusal(passing=True)),
        (LOCKED, Refusal(passing=True, lock="/srv/box.git/./refs/heads/chant/lifecycle.lock")),
        (SHUT, Refusal(passing=False)),
        ("remote: not today", Refusal(passing=False)),
        (
            TAKEN,
            Refusal(
                passing=False,
                hint="at the remote a branch a is there, and git makes none called a/b beside it:"
                " rename it, or set another branch in [ledger] of chant.toml",
            ),
        ),
    ],
    ids=["behind", "raced", "locked", "read only", "refused", "name taken"],
)
def test_a_refusal_tells_whether_another_try_may_help(said: str, refusal: Refusal) -> None:
    assert judge(said) == refusal


def test_a_lock_that_was_left_at_the_remote_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It once cost a minute, and then one heard what git says of a lock."""
    monkeypatch.setattr("ops.remote.OLD_S", 0.0)
    easy = checkout(tmp_path, "one", "try")
    easy.append_run(record("1"))
    lock = tmp_path / "remote.git/refs/heads/chant/lifecycle.lock"
    lock.touch()

    warning = easy.append_run(record("2")).warning

    hint = "a git that died has left it, it seems: remove it if no git works in that repository"
    assert re.fullmatch(
        rf"the record is on this machine only: /\S+/lifecycle\.lock is in the remote's way,"
        rf" and was for \d+ s; {hint}",
        str(warning),
    )
    lock.unlink()
    assert easy.append_run(record("3")).pushed


def test_a_lock_at_the_remote_is_somebodys_at_work_while_the_branch_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ops.remote.OLD_S", 0.0)
    git_ = Refusing(*[LOCKED] * 3)
    commits = iter("abc")
    monkeypatch.setattr(git_, "text", lambda *_args: next(commits))

    git_.remote().push()

    assert git_.asked.count("push") == 4


def test_a_branch_in_the_way_at_the_remote_is_told_at_once(tmp_path: Path) -> None:
    strict = checkout(tmp_path, "one")
    git(tmp_path / "one", "push", "-q", "origin", "HEAD:refs/heads/chant")

    with pytest.raises(LedgerError, match=r"at the remote a branch chant is there.*rename it"):
        strict.append_run(record("1"))


def test_what_must_be_pushed_and_was_taken_back_is_not_said_to_be_here(tmp_path: Path) -> None:
    strict = checkout(tmp_path, "one")
    git(tmp_path / "one", "push", "-q", "origin", "HEAD:refs/heads/chant")

    with pytest.raises(LedgerError, match=r"^nothing was recorded: at the remote a branch chant"):
        strict.edit_or_nothing(lambda _tree: {"a": b"b"}, "a fact")

    assert strict.branch.tip() is None


def test_runs_that_were_left_over_are_pushed_together_and_given_up_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them once took a minute of a remote that hears nothing, whoever cancelled."""
    remote, easy = before_silence(tmp_path, monkeypatch)
    notes = InFlight(easy.state_dir)
    for name in ("1", "2"):
        bury(notes.begin(record(name, status="running")).path, pid=dead_pid())

    settled = settle_interrupted(easy, NOW_S, stop=remote)

    assert [each["id"] for each in settled] == ["1", "2"]
    assert list(notes.abandoned()) == []
    assert remote.is_gone()


def test_checkouts_that_push_at_once_lose_nothing(tmp_path: Path) -> None:
    ledgers = [checkout(tmp_path, f"w{name}") for name in range(4)]

    def write(name: int) -> None:
        for turn in range(2):
            ledgers[name].append_run(record(f"{name}-{turn}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)

    assert ledgers[0].refresh() is None
    written = ids(ledgers[0].runs("local", "release").records)
    assert sorted(written) == sorted(f"{name}-{turn}" for name in range(4) for turn in range(2))
