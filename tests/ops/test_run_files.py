"""A ledger of many runs: full files are put aside, and what is asked reads few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops import run_files
from ops.errors import LedgerError
from ops.ledger import Ledger, open_ledger
from ops.project import LedgerSettings
from ops.run_files import runs_path, sort_files
from tests.ops.projects import git, repository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setattr(run_files, "MAX_FILE_BYTES", 400)
    opened = open_ledger(str(repository(tmp_path)), LedgerSettings())
    assert isinstance(opened, Ledger)
    return opened


def record(number: int, *, op: str = "release", status: str = "ok") -> dict[str, Any]:
    started, ended = f"2026-01-01T00:{number:02}:00Z", f"2026-01-01T00:{number:02}:30Z"
    run_id = f"run-{number:02}"
    facts = {"id": run_id, "op": op, "env": "local", "status": status}
    return {**facts, "started": started, "ended": ended}


def ids(records: tuple[Mapping[str, Any], ...]) -> list[str]:
    return [each["id"].removeprefix("run-") for each in records]


def test_a_full_file_is_put_aside_under_the_next_number(ledger: Ledger, tmp_path: Path) -> None:
    for number in range(8):
        ledger.append_run(record(number))

    files = git(tmp_path, "ls-tree", "-r", "--name-only", "chant/lifecycle").split("\n")
    assert files == [
        "local/runs/release.1.jsonl",
        "local/runs/release.2.jsonl",
        "local/runs/release.jsonl",
    ]
    assert ids(ledger.runs("local", "release").records) == [f"{number:02}" for number in range(8)]
    newest = ledger.newest("local", "release")
    assert newest is not None
    assert newest["id"] == "run-07"


def test_files_are_told_apart_by_number_not_by_spelling() -> None:
    paths = [f"e/runs/a.{number}.jsonl" for number in (9, 10, 1)]

    files = sort_files(dict.fromkeys([*paths, "e/runs/a.jsonl", "e/runs/odd", "e/runs/b.jsonl"]))

    assert list(files) == ["a", "b"]
    assert files["a"].paths() == ["e/runs/a.jsonl", paths[1], paths[0], paths[2]]
    assert files["a"].next_number == 11


def test_a_run_that_is_in_an_older_file_is_not_recorded_again(ledger: Ledger) -> None:
    for number in range(8):
        ledger.append_run(record(number))

    assert ledger.append_run(record(1, status="interrupted")).commit is None
    assert ledger.append_run(record(1)).commit is None


def test_the_end_of_a_run_outranks_an_interruption_in_an_older_file(ledger: Ledger) -> None:
    ledger.append_run(record(0, status="interrupted"))
    for number in range(1, 8):
        ledger.append_run(record(number))

    assert ledger.append_run(record(0)).commit is not None

    recent = ledger.recent("local", 20)
    found = [(each["id"], each["status"]) for each in recent.records if each["id"] == "run-00"]
    assert found == [("run-00", "ok")]


def test_the_last_runs_of_all_ops_come_newest_first(ledger: Ledger) -> None:
    for number in range(12):
        ledger.append_run(record(number, op=f"op-{number % 2}"))

    assert ids(ledger.recent("local", 5).records) == ["11", "10", "09", "08", "07"]
    assert ids(ledger.recent("local", 2, "op-0").records) == ["10", "08"]
    assert ids(ledger.recent("local", 99).records)[-1] == "00"
    assert ledger.recent("prod", 5).records == ()
    assert {op: each["id"] for op, each in ledger.newest_of_each("local").items()} == {
        "op-0": "run-10",
        "op-1": "run-11",
    }
    assert ledger.environments() == ("local",)


def test_the_last_runs_need_as_many_calls_of_git_however_long_the_ledger(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        ledger.append_run(record(number))
    calls: list[str] = []
    run = ledger.git.run

    def counted(*args: str, **more: Any) -> bytes:
        calls.append(args[0])
        return run(*args, **more)

    monkeypatch.setattr(ledger.git, "run", counted)
    ledger.recent("local", 1)

    assert calls == ["rev-parse", "ls-tree", "cat-file"]


def test_a_dot_in_a_name_would_be_a_number() -> None:
    with pytest.raises(LedgerError, match="can't name a file"):
        runs_path("local", "release.1")
