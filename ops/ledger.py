"""The ledger: what happened, on an orphan branch of the project's own repository.

Layout: ``<env>/runs/<op>.jsonl``, one run a line, oldest first.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ops.branch import Branch
from ops.errors import LedgerError
from ops.git import Git

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.project import LedgerSettings

PUSH_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class NoLedger:
    """There is nowhere to record; ``reason`` says why, for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a fact went.  ``commit`` None: the very same run was there already."""

    commit: str | None
    pushed: bool = False
    warning: str | None = None
    """Why the fact did not reach the remote, when it should have."""


@dataclass(frozen=True, slots=True)
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

    def append_run(self, record: Mapping[str, Any]) -> Appended:
        """Append a run's line, once: a run that is there already is left alone.

        Raises:
            LedgerError: It could not be written, or (``push = "require"``) not be pushed.

        """
        path = runs_path(record["env"], record["op"])
        text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
        line = text.encode(errors="replace") + b"\n"

        def make(content: bytes) -> bytes | None:
            if _is_known(record, content):
                return None
            # A line that was cut off must not swallow the next one.
            ended = content if not content or content.endswith(b"\n") else content + b"\n"
            return ended + line

        message = f"{record['op']}: {record['status']} in {record['env']} ({record['id']})"
        return self._push(self.branch.change(path, make, message))

    def runs(self, env: str, op: str) -> RunLines:
        """Return all recorded runs of an Op in an environment.

        Raises:
            LedgerError: The branch can't be read.

        """
        content = self.branch.read(runs_path(env, op), self.branch.tip()) or b""
        read = [_read_line(line) for line in content.splitlines()]
        records = tuple(record for record in read if record is not None)
        return RunLines(records, len(read) - len(records))

    def newest(self, env: str, op: str) -> Mapping[str, Any] | None:
        """Return the run that was recorded last, None when there is none."""
        records = self.runs(env, op).records
        return records[-1] if records else None

    def _push(self, commit: str | None) -> Appended:
        settings = self.settings
        if settings.push == "never" or settings.remote is None:
            return Appended(commit)
        refs = f"{self.branch.ref}:{self.branch.ref}"
        try:
            self.git.run("push", "--quiet", settings.remote, refs, timeout_s=PUSH_TIMEOUT_S)
        except LedgerError as error:
            warning = f"the record is on this machine only: {error.message}"
            if settings.push == "require":
                raise LedgerError(warning) from error
            return Appended(commit, warning=warning)
        return Appended(commit, pushed=True)


def open_ledger(root: str, settings: LedgerSettings) -> Ledger | NoLedger:
    """Return the ledger of the project at ``root``.  Writes nothing."""
    git = Git(root)
    try:
        common = git.text("rev-parse", "--path-format=absolute", "--git-common-dir")
        git.run("check-ref-format", f"refs/heads/{settings.branch}")
    except LedgerError as error:
        return NoLedger(_why(root, settings, error))
    state_dir = os.path.join(common, "chant")
    return Ledger(settings, state_dir, Branch(git, settings.branch, state_dir), git)


def runs_path(env: str, op: str) -> str:
    """Return the file of an Op's runs on the branch.

    Raises:
        LedgerError: A name can't be part of a path.

    """
    for name in (env, op):
        if not name or name.startswith(".") or "/" in name or not name.isprintable():
            msg = f"{name!r} can't name a file of the ledger"
            raise LedgerError(msg)
    return f"{env}/runs/{op}.jsonl"


def _read_line(line: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    record = cast("dict[str, Any]", value)
    return record if {"id", "status"} <= record.keys() else None


def _is_known(record: Mapping[str, Any], content: bytes) -> bool:
    """Tell whether the run is there; what became of it outranks that it was interrupted."""
    mark = json.dumps(record["id"]).encode()
    if mark not in content:
        return False
    read = (_read_line(line) for line in content.splitlines() if mark in line)
    known = [each["status"] for each in read if each and each["id"] == record["id"]]
    return any(record["status"] == "interrupted" or each != "interrupted" for each in known)


def _why(root: str, settings: LedgerSettings, error: LedgerError) -> str:
    if "not a git repository" in error.message:
        return f"{root} is not in a git repository, so there is nowhere to record runs"
    if "check-ref-format" in error.message:
        return f"{settings.branch!r} can't name a branch"
    return error.message
