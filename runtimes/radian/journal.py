"""The journal of one session, open for writing: one process, whole lines, on the disk when said.

A second writer is refused by a lock on the file, which the system drops with its holder.  What a
crash tore off is cut away, and kept beside the journal, before anything is written.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import orjson

from actors.faults import WITH_ERROR, NoFaults, point
from ops.run_id import timestamp
from runtimes.models.json_text import encode
from runtimes.radian.journal_read import load
from runtimes.radian.record_json import to_table
from runtimes.radian.records import Entry
from runtimes.radian.session_errors import JournalError, SessionInUse, SessionMissing, SessionTaken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.faults import Faults
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
        self, path: str, descriptor: int, last_seq: int, now: Callable[[], float], faults: Faults
    ) -> None:
        """See `create_journal` and `open_journal`."""
        self.path = path
        self.last_seq = last_seq
        self._descriptor = descriptor
        self._now = now
        self._faults = faults
        self._lock = threading.Lock()
        self._end = os.fstat(descriptor).st_size
        """Where the last whole line ends."""
        self._torn = False
        """A write may have left something behind that end."""

    def append(self, records: Sequence[Record], *, sync: bool) -> tuple[Entry, ...]:
        """Write ``records`` in one piece and return them with their numbers.

        ``sync``: they are on the disk when this returns.  Waits for the disk.

        Raises:
            JournalError: They could not be written, and nothing of them is left in the journal;
                or (the message says so) they were written and may not survive a power cut.

        """
        with self._lock:
            ts = timestamp(self._now())
            entries = tuple(
                Entry(seq, ts, record) for seq, record in enumerate(records, self.last_seq + 1)
            )
            data = b"".join(_line(entry) for entry in entries)
            self._write(data)
            self.last_seq += len(entries)
            if sync:
                self._sync()
            return entries

    def close(self) -> None:
        """Let go of the journal.  Safe to call twice."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    def _write(self, data: bytes) -> None:
        if self._descriptor < 0:
            raise JournalError(self._failed("be written", "it is closed"))
        try:
            self._check()
            self._faults.at(BEFORE_WRITE, os.path.basename(self.path))
            self._torn = True
            written = os.write(self._descriptor, data)
            if written < len(data):
                os.ftruncate(self._descriptor, self._end)
        except OSError as error:
            raise JournalError(self._failed("be written", error)) from error
        self._torn = False
        if written < len(data):
            raise JournalError(self._failed("be written", "the disk is full"))
        self._end += written

    def _check(self) -> None:
        """Refuse a file that others have had their hands on, and never glue to half a line."""
        now = os.fstat(self._descriptor)
        if now.st_nlink == 0:
            message = "it was removed"
            raise OSError(message)
        if now.st_size > self._end and self._torn:
            os.ftruncate(self._descriptor, self._end)
        elif now.st_size != self._end:
            message = "another program has changed it"
            raise OSError(message)

    def _sync(self) -> None:
        try:
            self._faults.at(BEFORE_SYNC, os.path.basename(self.path))
            os.fdatasync(self._descriptor)
        except OSError as error:
            raise JournalError(self._failed("be forced to the disk", error)) from error

    def _failed(self, what: str, why: object) -> str:
        reason = why.strerror or why if isinstance(why, OSError) else why
        return f"journal {self.path} can't {what}: {reason}"


def create_journal(
    path: str,
    first: SessionCreated,
    *,
    now: Callable[[], float] = time.time,
    faults: Faults | None = None,
) -> tuple[Journal, Entry]:
    """Make the journal of a new session, which begins with ``first``.

    Raises:
        SessionTaken: There is one already.
        SessionInUse: Another process makes it just now.
        JournalError: The disk refused it.

    """
    faults = faults or NoFaults()
    session_id = first.session_id
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = _locked(path, session_id, os.O_CREAT, faults)
    except OSError as error:
        message = f"journal {path} can't be made: {error.strerror or error}"
        raise JournalError(message) from error
    try:
        _take_over(descriptor, session_id)
        journal = Journal(path, descriptor, 0, now, faults)
        (entry,) = journal.append([first], sync=True)
        _sync_folder(os.path.dirname(path), faults)
    except BaseException:
        os.close(descriptor)
        raise
    return journal, entry


def open_journal(
    path: str,
    session_id: str,
    *,
    now: Callable[[], float] = time.time,
    faults: Faults | None = None,
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
        descriptor = _locked(path, session_id, 0, faults)
    except FileNotFoundError as error:
        raise SessionMissing(session_id) from error
    except OSError as error:
        message = f"journal {path} can't be opened: {error.strerror or error}"
        raise JournalError(message) from error
    try:
        data = _read(descriptor, path, session_id)
        loaded = load(data, path)
        check(loaded)
        _repair(path, descriptor, data, loaded, faults)
        return Journal(path, descriptor, loaded.last_seq, now, faults), loaded
    except BaseException:
        os.close(descriptor)
        raise


def _locked(path: str, session_id: str, create: int, faults: Faults) -> int:
    """Open and lock a journal; the lock goes with the descriptor."""
    import fcntl

    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | create
    descriptor = os.open(path, flags, 0o600)
    try:
        faults.at(BEFORE_LOCK, session_id)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise SessionInUse(session_id) from error
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _take_over(descriptor: int, session_id: str) -> None:
    """Empty a journal that a crash left before its first line was whole: it is no session."""
    if b"\n" in os.pread(descriptor, 1 << 20, 0):
        raise SessionTaken(session_id, session_id)
    os.ftruncate(descriptor, 0)


def _read(descriptor: int, path: str, session_id: str) -> bytes:
    try:
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read()
    except OSError as error:
        message = f"journal {path} can't be read: {error.strerror or error}"
        raise JournalError(message) from error
    if not data:
        raise SessionMissing(session_id)
    return data


def _repair(path: str, descriptor: int, data: bytes, loaded: Loaded, faults: Faults) -> None:
    """Have the journal end with a whole line; what is cut off is kept beside it."""
    torn = data[loaded.whole :]
    if not torn and not loaded.unended:
        return
    try:
        faults.at(BEFORE_REPAIR, os.path.basename(path))
        if torn:
            _keep_torn(f"{path}.torn-{loaded.whole}", torn)
            os.ftruncate(descriptor, loaded.whole)
        else:
            os.write(descriptor, b"\n")
        os.fdatasync(descriptor)
    except OSError as error:
        message = f"journal {path} can't be repaired: {error.strerror or error}"
        raise JournalError(message) from error


def _keep_torn(path: str, torn: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as stream:
        stream.write(torn)


def _sync_folder(folder: str, faults: Faults) -> None:
    """Make sure that the name of a new file survives a power cut too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        faults.at(BEFORE_SYNC, folder)
        os.fsync(descriptor)
    except OSError as error:
        message = f"{folder} can't be forced to the disk: {error.strerror or error}"
        raise JournalError(message) from error
    finally:
        os.close(descriptor)


def _line(entry: Entry) -> bytes:
    try:
        line = encode(to_table(entry))
        if line.count(b"[") + line.count(b"{") > SAFE_DEPTH:
            orjson.loads(line)  # what can't be read again must not be written
    except (RecursionError, ValueError) as error:
        message = f"record {entry.seq} ({type(entry.record).__name__}) is nested too deeply"
        raise JournalError(message) from error
    return line + b"\n"
