"""Forking: a new session that begins with what another one was up to the end of a turn."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from actors.faults import WITH_ERROR, point
from runtimes.models.json_text import encode, tables, text_of
from runtimes.radian.journal_read import numbered
from runtimes.radian.record_json import to_table
from runtimes.radian.records import Entry, ImageFile, Parent, SessionCreated
from runtimes.radian.session_cut import cut_at
from runtimes.radian.session_errors import JournalError, SessionTaken
from runtimes.radian.side_files import image_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from actors.faults import Faults
    from runtimes.radian.sessions import Sessions

BEFORE_FORK = point("journal.fork", "the journal of a fork is about to be written", WITH_ERROR)

BEFORE_NAME = point("journal.name", "a fork is about to get its name", WITH_ERROR)


def fork_session(
    sessions: Sessions,
    source_id: str,
    new_id: str,
    *,
    workspace: str,
    version: str,
    ts: str,
    at: str | None = None,
) -> tuple[str, ...]:
    """Make session ``new_id`` from ``source_id``, which stays as it is, and return warnings.

    ``at``: the turn to keep last, or ``seq:N``; None: the last that is over.  The fork has the
    copied records under numbers of its own, and its side files are links.

    Raises:
        SessionError: The source can't be read, the id is taken, or ``at`` is no end of a turn.
        JournalError: The disk refused it; there is no fork then.

    """
    loaded, data = sessions.read(source_id, workspace)
    path = sessions.path(new_id)
    sessions.check_free(new_id)
    last = cut_at(loaded.entries, at)
    first = SessionCreated(
        new_id, loaded.session.workspace, version, parent=Parent(loaded.session.session_id, last)
    )
    copied = list(_renumbered(numbered(data), last))
    records = [to_table(Entry(1, ts, first)), *copied]
    if os.path.exists(path):
        raise SessionTaken(new_id, new_id)
    sessions.side_files(new_id).link(side_names(copied), sessions.side_files(source_id))
    lines = b"".join(encode(table) + b"\n" for table in records)
    try:
        _write_new(sessions, path, lines)
    except FileExistsError as error:
        raise SessionTaken(new_id, new_id) from error
    except OSError as error:
        message = f"journal {path} can't be written: {error.strerror or error}"
        raise JournalError(message) from error
    return loaded.warnings


def side_names(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the names of the side files that records speak of."""
    for table in records:
        for part in tables(table.get("content")):
            if part.get("type") == "image":
                image = ImageFile(text_of(part.get("digest")), text_of(part.get("mime_type")))
                yield image_name(image)
        full_output = text_of(table.get("full_output_file"))
        if full_output:
            yield os.path.basename(full_output)


def _renumbered(
    source: Iterable[tuple[int, dict[str, Any]]], last: int
) -> Iterator[dict[str, Any]]:
    """Yield the records after the first, up to number ``last``, numbered from 2."""
    new_of: dict[int, int] = {}
    seq = 1
    for old, table in source:
        if table.get("type") == "SessionCreated" or old > last:
            continue
        seq += 1
        new_of.setdefault(old, seq)
        renumbered = {**table, "seq": seq}
        if "first_kept_seq" in table:
            kept = table["first_kept_seq"]
            renumbered["first_kept_seq"] = new_of.get(kept, seq if kept > old else 2)
        yield renumbered


def _write_new(sessions: Sessions, path: str, data: bytes) -> None:
    """Have a file appear whole, and only if there is none."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    sessions.faults.at(BEFORE_FORK, os.path.basename(path))
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _name(temporary, path, sessions.faults)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _name(temporary: str, path: str, faults: Faults) -> None:
    """Give a file its name unless another one has it."""
    faults.at(BEFORE_NAME, os.path.basename(path))
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no links: what is left there is a look before the jump.
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(temporary, path)
