"""The ledger: what happened, on an orphan branch of the project's own repository.

Layout: ``<env>/runs/<op>.jsonl``, one run a line, oldest first; full files are put beside it, see
`ops.run_files`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ops.branch import PATIENCE_S, Branch
from ops.errors import LedgerError
from ops.git import Git
from ops.remote import Remote
from ops.run_files import is_known, read_line, runs_path, sort_files, with_line
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.branch_tree import BranchTree
    from ops.faults import Faults
    from ops.git import Stopping
    from ops.project import LedgerSettings


@frozen
class NoLedger:
    """There is nowhere to record; ``reason`` says why, for people."""

    reason: str


@frozen
class Appended:
    """Where a fact went.  ``commit`` None: the very same run was there already."""

    commit: str | None
    pushed: bool = False
    warning: str | None = None
    """Why the fact did not reach the remote, when it should have."""


class NotPushed(LedgerError):  # noqa: N818 - the tree names what happened
    """A fact is written, and did not reach the remote; ``why`` says what was in the way."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the record is on this machine only: {why}")
        self.why = why


@frozen
class RunLines:
    """The runs of an Op, oldest first, and how many lines could not be read."""

    records: tuple[Mapping[str, Any], ...] = ()
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger of one project.  Safe to use from several threads and processes."""

    settings: LedgerSettings
    state_dir: str
    """A folder below the git directory for what is only true on this machine."""
    branch: Branch = field(repr=False)
    git: Git = field(repr=False)
    stop: Stopping | None = field(default=None, repr=False, compare=False)
    """Tells that nobody waits any more; a call that is given another one heeds that."""

    def heeding(self, stop: Stopping) -> Ledger:
        """Return the same ledger, whose remote gets a few seconds after ``stop``."""
        return replace(self, stop=stop)

    def append_run(
        self,
        record: Mapping[str, Any],
        stop: Stopping | None = None,
        patience_s: float = PATIENCE_S,
    ) -> Appended:
        """Append a run's line, once: a run that is there already is left alone.

        The remote gets ``patience_s``.  After ``stop`` the line is written all the same, and the
        remote gets a few seconds.

        Raises:
            LedgerError: It could not be written, or (``push = "require"``) not be pushed.

        """
        return self._push(self.write_run(record), stop, patience_s)

    def write_run(self, record: Mapping[str, Any]) -> str | None:
        """Do as `append_run` does, and push nothing; return the commit, None for a known run.

        Raises:
            LedgerError: It could not be written.

        """
        env, op = record["env"], record["op"]
        text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
        line = text.encode(errors="replace") + b"\n"
        path = runs_path(env, op)

        def make(tree: BranchTree) -> dict[str, bytes] | None:
            content = tree.read(path) or b""
            if is_known(record, _newest_first(tree, env, op, content)):
                return None
            return with_line(tree, env, op, content, line)

        return self.branch.edit(make, f"{op}: {record['status']} in {env} ({record['id']})")

    def publish(self, stop: Stopping | None = None) -> str | None:
        """Push what is written, as the policy says; return a warning for people.

        Raises:
            LedgerError: ``push = "require"`` and it could not be pushed.

        """
        return self._push(None, stop).warning

    def edit(
        self,
        make: Callable[[BranchTree], Mapping[str, bytes] | None],
        message: str,
        stop: Stopping | None = None,
    ) -> Appended:
        """Write files in one commit, see `ops.branch.Branch.edit`, and push as the policy says.

        Raises:
            LedgerError: They could not be written, or (``push = "require"``) not be pushed.

        """
        return self._push(self.branch.edit(make, message), stop)

    def edit_or_nothing(
        self,
        make: Callable[[BranchTree], Mapping[str, bytes] | None],
        message: str,
        stop: Stopping | None = None,
    ) -> Appended:
        """Do as `edit` does, but let nothing be written that could not be pushed if it must be.

        Raises:
            LedgerError: As `edit`; says so where others built on it before it could be undone.

        """
        commit = self.branch.edit(make, message)
        try:
            return self._push(commit, stop)
        except NotPushed as error:
            if commit is None or not self.branch.take_back(commit):
                raise
            message = f"nothing was recorded: {error.why}"
            raise LedgerError(message) from error

    def refresh(self, stop: Stopping | None = None) -> str | None:
        """Bring in what others pushed, where the project pushes; return a warning for people.

        Raises:
            LedgerError: ``push = "require"`` and the remote can't be reached.

        """
        remote = self._remote(stop)
        if remote is None:
            return None
        try:
            remote.fetch()
        except LedgerError as error:
            warning = f"what others recorded could not be fetched: {error.message}"
            if self.settings.push == "require":
                raise LedgerError(warning) from error
            return warning
        return None

    def runs(self, env: str, op: str) -> RunLines:
        """Return all recorded runs of an Op in an environment: years of them, perhaps.

        Raises:
            LedgerError: The branch can't be read.

        """
        runs_path(env, op)
        return _read_runs(self.branch.tree(), env, op, None)[op]

    def recent(self, env: str, limit: int, op: str | None = None) -> RunLines:
        """Return the last ``limit`` runs of one Op, or of all, newest first, each run once.

        What it costs depends on ``limit`` and the number of Ops, not on how many runs there are.

        Raises:
            LedgerError: The branch can't be read.

        """
        found = _read_runs(self.branch.tree(), env, op, limit).values()
        ended = [each for lines in found for each in lines.records]
        newest = sorted(ended, key=_moment, reverse=True)
        damaged = sum(lines.damaged for lines in found)
        return RunLines(tuple(_once(newest)[:limit]), damaged)

    def newest_of_each(self, env: str) -> dict[str, Mapping[str, Any]]:
        """Return the last recorded run of every Op that has one.

        Raises:
            LedgerError: The branch can't be read.

        """
        found = _read_runs(self.branch.tree(), env, None, 1)
        return {op: lines.records[-1] for op, lines in found.items() if lines.records}

    def environments(self) -> tuple[str, ...]:
        """Return the environments that have facts, in order of their names."""
        return tuple(name for name in self.branch.tree().folders() if not name.startswith("_"))

    def newest(self, env: str, op: str) -> Mapping[str, Any] | None:
        """Return the run that was recorded last, None when there is none."""
        runs_path(env, op)
        records = _read_runs(self.branch.tree(), env, op, 1)[op].records
        return records[-1] if records else None

    def _remote(self, stop: Stopping | None = None) -> Remote | None:
        settings = self.settings
        if settings.push == "never" or settings.remote is None:
            return None
        return Remote(self.git, self.branch, settings.remote, stop or self.stop)

    def _push(
        self, commit: str | None, stop: Stopping | None = None, patience_s: float = PATIENCE_S
    ) -> Appended:
        remote = self._remote(stop)
        if remote is None:
            return Appended(commit)
        try:
            remote.push(patience_s)
        except LedgerError as error:
            late = NotPushed(error.message)
            if self.settings.push == "require":
                raise late from error
            return Appended(commit, warning=late.message)
        return Appended(commit, pushed=True)


def open_ledger(
    root: str, settings: LedgerSettings, faults: Faults | None = None
) -> Ledger | NoLedger:
    """Return the ledger of the project at ``root``.  Writes nothing."""
    git = Git(root, faults=faults)
    try:
        common = git.text("rev-parse", "--path-format=absolute", "--git-common-dir")
        git.run("check-ref-format", f"refs/heads/{settings.branch}")
    except LedgerError as error:
        return NoLedger(_why(root, settings, error))
    state_dir = os.path.join(common, "chant")
    return Ledger(settings, state_dir, Branch(git, settings.branch, state_dir), git)


def _newest_first(tree: BranchTree, env: str, op: str, newest: bytes) -> Iterator[bytes]:
    """Yield the newest file's content, then, only if asked on, those of the full ones."""
    yield newest
    blobs = tree.blobs(f"{env}/runs/")
    paths = sort_files(blobs)[op].paths() if runs_path(env, op) in blobs else []
    for path in paths[1:]:
        yield from (content for _path, content in tree.contents({path: blobs[path]}))


def _read_runs(
    tree: BranchTree, env: str, only: str | None, least: int | None
) -> dict[str, RunLines]:
    """Return the newest runs of each Op, oldest first: at least ``least`` of each, or all."""
    blobs = tree.blobs(f"{env}/runs/")
    left = {op: files.paths() for op, files in sort_files(blobs).items() if only in {None, op}}
    found = {op: RunLines() for op in left} if only is None else {only: RunLines()}
    while left:
        # One file of each Op a round, so that git is called as often as the longest Op needs.
        now = {paths.pop(0): op for op, paths in left.items()}
        for path, content in tree.contents({path: blobs[path] for path in now}):
            found[now[path]] = _with_older(found[now[path]], content)
        left = {
            op: paths
            for op, paths in left.items()
            if paths and (least is None or len(found[op].records) < least)
        }
    return found


def _with_older(lines: RunLines, content: bytes) -> RunLines:
    read = [read_line(line) for line in content.splitlines()]
    records = tuple(record for record in read if record is not None)
    return RunLines(records + lines.records, lines.damaged + len(read) - len(records))


def _moment(record: Mapping[str, Any]) -> tuple[str, str]:
    return str(record.get("ended") or ""), str(record["id"])


def _once(newest: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Leave out that a run was interrupted when what became of it is there as well."""
    ended = {each["id"] for each in newest if each["status"] != "interrupted"}
    return [each for each in newest if each["status"] != "interrupted" or each["id"] not in ended]


def _why(root: str, settings: LedgerSettings, error: LedgerError) -> str:
    if "not a git repository" in error.message:
        return (
            f"{root} is not in a git repository, so there is nowhere to record runs;"
            " git init makes one"
        )
    if "check-ref-format failed (1)" in error.message:
        return f"{settings.branch!r} can't name a branch"
    return error.message
