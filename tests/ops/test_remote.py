"""Two checkouts that push to one remote: nothing is lost, nothing is forced."""

from __future__ import annotations

import os
import select
import threading
from typing import TYPE_CHECKING

import pytest

from ops.errors import LedgerError
from ops.gate_ledger import GateLedger
from ops.points_ledger import PointLedger
from ops.project import LedgerSettings
from tests.ops.projects import git, repository
from tests.ops.test_gates import ASK, NOW_S
from tests.ops.test_ledger import ids, ledger, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ops.ledger import Ledger

BRANCH = "chant/lifecycle"
DEATH_LIMIT_MS = 20_000


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


class SilentRemote:
    """An ssh that connects and then hears nothing; also tells that nobody waits for it."""

    def __init__(self, folder: Path) -> None:
        sign = folder / "sign"
        silence = folder / "silence"
        os.mkfifo(sign)
        os.mkfifo(silence)
        self._sign = os.open(sign, os.O_RDONLY | os.O_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(self._sign, select.POLLIN)
        self.command = folder / "ssh"
        self.command.write_text(f"#!/bin/sh\nexec 3>{sign}\necho here >&3\necho <{silence}\n")
        self.command.chmod(0o755)

    def is_set(self) -> bool:
        """As soon as it is being talked to."""
        return bool(self._poll.poll(0))

    def is_gone(self) -> bool:
        """Wait until no process of it lives."""
        os.read(self._sign, 1024)
        gone = bool(self._poll.poll(DEATH_LIMIT_MS))
        os.close(self._sign)
        return gone


def test_a_remote_that_hears_nothing_is_given_up_with_all_that_talks_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ssh without a limit of its own once lived on for ever, whoever had waited for it."""
    remote = SilentRemote(tmp_path)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(remote.command))
    monkeypatch.setattr("ops.git.HURRY_S", 0.0)
    easy = checkout(tmp_path, "one", "try")
    git(tmp_path / "one", "remote", "set-url", "origin", "ssh://nowhere.invalid/box")

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
    ],
    ids=["gate", "question"],
)
def test_a_run_that_is_cancelled_while_it_fetches_what_others_said_leaves_nobody_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Ledger, SilentRemote], object]
) -> None:
    remote = SilentRemote(tmp_path)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(remote.command))
    monkeypatch.setattr("ops.git.HURRY_S", 0.0)
    strict = checkout(tmp_path, "one")
    git(tmp_path / "one", "remote", "set-url", "origin", "ssh://nowhere.invalid/box")

    with pytest.raises(LedgerError, match="git fetch was given up, since nobody waits"):
        ask(strict, remote)

    assert remote.is_gone()
    assert strict.branch.tip() is None


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
