"""The folder in which all journals lie: finding, opening and listing sessions.

A workspace is a directory, whatever its path is spelt like: compared by device and inode.
"""

from __future__ import annotations

import os
import time
from dataclasses import field
from typing import TYPE_CHECKING, Any, BinaryIO

from actors.faults import NoFaults
from ops.plain_file import plain
from protocol.values import frozen
from runtimes.models.json_text import tables, text_of
from runtimes.radian.ids import check_session_id
from runtimes.radian.journal import create_journal, open_journal
from runtimes.radian.journal_disk import THE_JOURNALS
from runtimes.radian.journal_read import lines, load
from runtimes.radian.session_errors import (
    JournalError,
    SessionError,
    SessionForeign,
    SessionMissing,
    SessionTaken,
)
from runtimes.radian.side_files import SideFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from actors.faults import Faults
    from runtimes.radian.journal import Journal
    from runtimes.radian.journal_disk import JournalDisk
    from runtimes.radian.journal_read import Loaded
    from runtimes.radian.records import Entry, SessionCreated

ENDING = ".jsonl"
GLANCES = (64 * 1024, 4 * 1024 * 1024)
"""Bytes that a list reads of each end of a journal, and of one whose lines are longer."""
MAX_TITLE = 80


@frozen
class Summary:
    """One line of a list.  ``turns``: how many began; ``last_end`` None: the last has no end."""

    session_id: str
    workspace: str
    created: str
    updated: str
    turns: int
    title: str
    provider: str = ""
    model: str = ""
    last_end: str | None = None


@frozen
class Sessions:
    """All sessions of one user."""

    folder: str
    faults: Faults = field(default_factory=NoFaults)
    disk: JournalDisk = THE_JOURNALS
    """Where they are made and opened; lists and copies read the disk of this machine."""

    def path(self, session_id: str) -> str:
        """Return where the journal of a session is, or would be.

        Raises:
            BadSessionId: It can't be the id of a session.

        """
        return os.path.join(self.folder, check_session_id(session_id) + ENDING)

    def side_files(self, session_id: str) -> SideFiles:
        """Return the files beside the journal of a session."""
        name = check_session_id(session_id) + ".files"
        return SideFiles(os.path.join(self.folder, name), self.faults)

    def create(
        self, first: SessionCreated, now: Callable[[], float] = time.time
    ) -> tuple[Journal, Entry]:
        """Make a new session, whose journal begins with ``first``.

        Raises:
            SessionError: The id is no id, or taken, also if but for its case.
            JournalError: The disk refused it.

        """
        path = self.path(first.session_id)
        self.check_free(first.session_id)
        return create_journal(path, first, now=now, faults=self.faults, disk=self.disk)

    def check_free(self, session_id: str) -> None:
        """See that no session has an id that differs from this one by case only.

        Raises:
            SessionTaken: One has.

        """
        folded = session_id.lower()
        for taken in self.ids():
            if taken != session_id and taken.lower() == folded:
                raise SessionTaken(session_id, taken)

    def open(
        self, session_id: str, workspace: str, now: Callable[[], float] = time.time
    ) -> tuple[Journal, Loaded]:
        """Open a session of ``workspace`` to go on with it.

        Raises:
            SessionError: It is missing, foreign, in use, damaged or newer; nothing was written.
            JournalError: The disk refused it.

        """

        def check(loaded: Loaded) -> None:
            check_workspace(loaded.session, workspace)

        path = self.path(session_id)
        return open_journal(
            path, session_id, now=now, faults=self.faults, disk=self.disk, check=check
        )

    def read(self, session_id: str, workspace: str) -> tuple[Loaded, bytes]:
        """Return what the journal of a session of ``workspace`` holds, and its bytes.

        Raises:
            SessionError: It is missing, foreign, damaged or newer.
            JournalError: The disk refused it.

        """
        path = self.path(session_id)
        try:
            with open(path, "rb", opener=plain) as stream:
                data = stream.read()
        except FileNotFoundError as error:
            raise SessionMissing(session_id) from error
        except OSError as error:
            message = f"journal {path} can't be read: {error.strerror or error}"
            raise JournalError(message) from error
        if not data:
            raise SessionMissing(session_id)
        loaded = load(data, path)
        check_workspace(loaded.session, workspace)
        return loaded, data

    def ids(self) -> list[str]:
        """Return the ids of all sessions, sorted."""
        names = self.disk.names(self.folder)
        stems = (name.removesuffix(ENDING) for name in names if name.endswith(ENDING))
        return sorted(stem for stem in stems if _is_id(stem))

    def list(self, workspace: str) -> list[Summary]:
        """Return the sessions of ``workspace``, the one written last first.

        Reads only both ends of each journal; passes over what it can't read.
        """
        found = (glance(self.path(session_id)) for session_id in self.ids())
        here = [
            each for each in found if each is not None and same_directory(each.workspace, workspace)
        ]
        return sorted(here, key=lambda each: (each.updated, each.session_id), reverse=True)


def check_workspace(session: SessionCreated, workspace: str) -> None:
    """See that a session belongs to ``workspace``.

    Raises:
        SessionForeign: It does not; names both.

    """
    if not same_directory(session.workspace, workspace):
        raise SessionForeign(session.session_id, session.workspace, workspace)


def same_directory(one: str, other: str) -> bool:
    """Tell whether two paths name one directory; a path that names none is like no other."""
    try:
        return os.path.samestat(os.stat(one), os.stat(other))
    except (OSError, ValueError):
        return False


def glance(path: str) -> Summary | None:
    """Return what both ends of a journal tell about it; None: it begins no session."""
    try:
        with open(path, "rb", opener=plain) as stream:
            return _look(stream).summary()
    except OSError:
        return None


def _look(stream: BinaryIO) -> _Glance:
    size = os.fstat(stream.fileno()).st_size
    seen = _Glance()
    for limit in GLANCES:
        stream.seek(0)
        head = stream.read(limit)
        stream.seek(max(0, size - limit))
        tail = stream.read()
        if limit < size:
            tail = tail[tail.find(b"\n") + 1 :]
        seen = _Glance().see(head, tail)
        if seen.is_enough() or limit >= size:
            break
    return seen


def one_line(text: str, limit: int) -> str:
    """Return ``text`` without line breaks and control characters, at most ``limit`` long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


class _Glance:
    """Collects what a list shows, leniently: no line is an error."""

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}
        self._title = ""
        self._run: dict[str, Any] = {}
        self._updated = ""
        self._turns = 0
        self._end: str | None = None
        self._saw_end = False

    def see(self, head: bytes, tail: bytes) -> _Glance:
        """Look at both ends; they may overlap."""
        for table in _objects(head):
            if not self._first:
                self._first = table
            if table.get("type") == "UserMessage" and not self._title:
                self._title = one_line(user_text(table), MAX_TITLE)
            self._see(table)
        for table in _objects(tail):
            self._see(table)
            self._saw_end = self._saw_end or type(table.get("turn")) is int
        return self

    def is_enough(self) -> bool:
        """Tell whether there is no need to look closer."""
        return bool(self._title) and self._saw_end

    def summary(self) -> Summary | None:
        """Return what was seen, if it was a session."""
        if self._first.get("type") != "SessionCreated":
            return None
        return Summary(
            session_id=text_of(self._first.get("session_id")),
            workspace=text_of(self._first.get("workspace")),
            created=text_of(self._first.get("ts")),
            updated=self._updated,
            turns=self._turns,
            title=self._title,
            provider=text_of(self._run.get("provider")),
            model=text_of(self._run.get("model")),
            last_end=self._end,
        )

    def _see(self, table: dict[str, Any]) -> None:
        self._updated = max(self._updated, text_of(table.get("ts")))
        turn = table.get("turn")
        if type(turn) is int and turn > self._turns:
            self._turns = turn
            self._end = None
        match table.get("type"):
            case "RunStarted":
                self._run = table
            case "TurnEnded" if turn == self._turns and table.get("agent") is None:
                self._end = text_of(table.get("end"))
            case _:
                pass


def user_text(table: dict[str, Any]) -> str:
    """Return the text of a UserMessage, as an object."""
    parts = tables(table.get("content"))
    return "\n".join(text_of(part.get("text")) for part in parts if part.get("type") == "text")


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    return (line.table for line in lines(data) if line.table is not None)


def _is_id(text: str) -> bool:
    try:
        check_session_id(text)
    except SessionError:
        return False
    return True
