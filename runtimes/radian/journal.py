"""The journal of one session, open for writing: one process, whole lines, on the disk when said.

A second writer is refused by a lock on the file, which the system drops with its holder.  What a
crash tore off is cut away, and kept beside the journal, before anything is written.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import orjson

from actors.faults import WITH_ERROR, NoFaults, point
from ops.run_id import timestamp
from runtimes.models.json_text import encode
from runtimes.radian.journal_disk import THE_JOURNALS
from runtimes.radian.journal_read import load
from runtimes.radian.record_json import to_table
from runtimes.radian.record_masking import without_secrets
from runtimes.radian.records import Entry
from runtimes.radian.session_errors import JournalError, SessionInUse, SessionMissing, SessionTaken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.faults import Faults
    from runtimes.radian.journal_disk import JournalDisk, JournalFile
    from runtimes.radian.journal_read import Loaded
    from runtimes.radian.records import Record, SessionCreated

BEFORE_LOCK = point("journal.lock", "a journal is about to be locked for writing", WITH_ERROR)
BEFORE_WRITE = point("journal.write", "records are about to be written to a journal", WITH_ERROR)
BEFORE_SYNC = point("journal.sync", "a journal is about to be forced to the disk", WITH_ERROR)
BEFORE_REPAIR = point("journal.repair", "a journal's torn end is about to be cut off", WITH_ERROR)

SAFE_DEPTH = 1000
"""Brackets that any reader can take."""


class Journal:
    """A journal that this process alone writes, until `close` or its death.

    Any thread may call; writes are one after the other.
    """

    def __init__(
        self,
        path: str,
        file: JournalFile,
        last_seq: int,
        *,
        now: Callable[[], float],
        faults: Faults,
        disk: JournalDisk,
    ) -> None:
        """See `create_journal` and `open_journal`."""
        self.path = path
        self.last_seq = last_seq
        self._file: JournalFile | None = file
        self._now = now
        self._faults = faults
        self._lock = disk.mutex()
        self._end = file.size()
        """Where the last whole line ends."""
        self._torn = False
        """A write may have left something behind that end."""
        self._disk = disk
        self._named = False
        """Its folder was forced to the disk.  Who wrote here before may have died before that."""
        self.mask: Callable[[str], str] = str
        """Takes known secrets out of a text, before it is written."""

    def append(self, records: Sequence[Record], *, sync: bool) -> tuple[Entry, ...]:
        """Write ``records`` in one piece and return them with their numbers.

        ``sync``: they are on the disk when this returns.  Waits for the disk.

        Raises:
            JournalError: They could not be written, and nothing of them is left in the journal;
                or (it holds them) they were written and may not survive a power cut.

        """
        with self._lock:
            ts = timestamp(self._now())
            entries = tuple(
                Entry(seq, ts, record) for seq, record in enumerate(records, self.last_seq + 1)
            )
            data = b"".join(_line(entry, self.mask) for entry in entries)
            file = self._file
            if file is None:
                raise JournalError(self._failed("be written", "it is closed"))
            self._write(file, data)
            self.last_seq += len(entries)
            try:
                if sync:
                    self._sync(file)
            except JournalError as error:
                error.written = entries
                raise
            return entries

    def void(self) -> None:
        """Take back all of a new journal, as if there had been no session; see `_take_over`.

        Where the disk refuses that too, a session is left in which nothing was said.
        """
        with self._lock, suppress(OSError):
            if self._file is not None:
                self._file.cut(0)
                self._end = 0

    def close(self) -> None:
        """Let go of the journal.  Safe to call twice."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                file.close()

    def _write(self, file: JournalFile, data: bytes) -> None:
        try:
            self._check(file)
            self._faults.at(BEFORE_WRITE, os.path.basename(self.path))
            self._torn = True
            written = file.write(data)
            if written < len(data):
                file.cut(self._end)
        except OSError as error:
            raise JournalError(self._failed("be written", error)) from error
        self._torn = False
        if written < len(data):
            raise JournalError(self._failed("be written", "the disk is full"))
        self._end += written

    def _check(self, file: JournalFile) -> None:
        """Refuse a file that others have had their hands on, and never glue to half a line."""
        size = file.size()
        if size > self._end and self._torn:
            file.cut(self._end)
        elif size != self._end:
            message = "another program has changed it"
            raise OSError(message)

    def _sync(self, file: JournalFile) -> None:
        try:
            self._faults.at(BEFORE_SYNC, os.path.basename(self.path))
            file.force()
        except OSError as error:
            raise JournalError(self._failed("be forced to the disk", error)) from error
        if not self._named:
            _sync_folder(os.path.dirname(self.path), self._faults, self._disk)
            self._named = True

    def _failed(self, what: str, why: object) -> str:
        reason = why.strerror or why if isinstance(why, OSError) else why
        return f"journal {self.path} can't {what}: {reason}"


def create_journal(
    path: str,
    first: SessionCreated,
    *,
    now: Callable[[], float] = time.time,
    faults: Faults | None = None,
    disk: JournalDisk = THE_JOURNALS,
) -> tuple[Journal, Entry]:
    """Make the journal of a new session, which begins with ``first``.

    A power cut may take it until the first records are forced to the disk: nothing was said yet.

    Raises:
        SessionTaken: There is one already.
        SessionInUse: Another process makes it just now.
        JournalError: The disk refused it.

    """
    faults = faults or NoFaults()
    session_id = first.session_id
    try:
        disk.make_folder(os.path.dirname(path))
        file = _locked(disk.open(path, new=True), session_id, faults)
    except OSError as error:
        message = f"journal {path} can't be made: {error.strerror or error}"
        raise JournalError(message) from error
    try:
        _take_over(file, session_id)
        journal = Journal(path, file, 0, now=now, faults=faults, disk=disk)
        (entry,) = journal.append([first], sync=False)
    except BaseException:
        file.close()
        raise
    return journal, entry


def open_journal(
    path: str,
    session_id: str,
    *,
    now: Callable[[], float] = time.time,
    faults: Faults | None = None,
    disk: JournalDisk = THE_JOURNALS,
    check: Callable[[Loaded], None] = lambda _: None,
) -> tuple[Journal, Loaded]:
    """Open the journal at ``path`` to go on writing, and return what it holds.

    ``check`` may raise before anything is written, for instance because the session belongs to
    another workspace.

    Raises:
        SessionMissing: There is none.
        SessionInUse: Another process has it open.
        SessionError: It is damaged, or of a newer format; nothing was written.
        JournalError: The disk refused to open or repair it.

    """
    faults = faults or NoFaults()
    try:
        file = _locked(disk.open(path, new=False), session_id, faults)
    except FileNotFoundError as error:
        raise SessionMissing(session_id) from error
    except OSError as error:
        message = f"journal {path} can't be opened: {error.strerror or error}"
        raise JournalError(message) from error
    try:
        data = _read(file, path, session_id)
        loaded = load(data, path)
        check(loaded)
        _repair(path, file, data, loaded, faults=faults, disk=disk)
        journal = Journal(path, file, loaded.last_seq, now=now, faults=faults, disk=disk)
    except BaseException:
        file.close()
        raise
    return journal, loaded


def _locked(file: JournalFile, session_id: str, faults: Faults) -> JournalFile:
    """Lock a journal; the lock goes with the file."""
    try:
        faults.at(BEFORE_LOCK, session_id)
        file.lock()
    except BlockingIOError as error:
        file.close()
        raise SessionInUse(session_id) from error
    except BaseException:
        file.close()
        raise
    return file


def _take_over(file: JournalFile, session_id: str) -> None:
    """Empty a journal that a crash left before its first line was whole: it is no session."""
    if b"\n" in file.head(1 << 20):
        raise SessionTaken(session_id, session_id)
    file.cut(0)


def _read(file: JournalFile, path: str, session_id: str) -> bytes:
    try:
        data = file.read()
    except OSError as error:
        message = f"journal {path} can't be read: {error.strerror or error}"
        raise JournalError(message) from error
    if not data:
        raise SessionMissing(session_id)
    return data


def _repair(
    path: str,
    file: JournalFile,
    data: bytes,
    loaded: Loaded,
    *,
    faults: Faults,
    disk: JournalDisk,
) -> None:
    """Have the journal end with a whole line; what is cut off is kept beside it."""
    torn = data[loaded.whole :]
    if not torn and not loaded.unended:
        return
    try:
        faults.at(BEFORE_REPAIR, os.path.basename(path))
        if torn:
            disk.keep(f"{path}.torn-{loaded.whole}", torn)
            file.cut(loaded.whole)
        else:
            file.write(b"\n")
        file.force()
    except OSError as error:
        message = f"journal {path} can't be repaired: {error.strerror or error}"
        raise JournalError(message) from error


def _sync_folder(folder: str, faults: Faults, disk: JournalDisk) -> None:
    """Make sure that the name of a new file survives a power cut too."""
    try:
        faults.at(BEFORE_SYNC, folder)
        disk.force_names(folder)
    except OSError as error:
        message = f"{folder} can't be forced to the disk: {error.strerror or error}"
        raise JournalError(message) from error


def _line(entry: Entry, mask: Callable[[str], str]) -> bytes:
    try:
        line = encode(table := to_table(entry))
        if mask(text := line.decode()) != text:
            line = encode(without_secrets(table, mask))
        if line.count(b"[") + line.count(b"{") > SAFE_DEPTH:
            orjson.loads(line)  # what can't be read again must not be written
    except (RecursionError, ValueError) as error:
        message = f"record {entry.seq} ({type(entry.record).__name__}) is nested too deeply"
        raise JournalError(message) from error
    return line + b"\n"
