"""Why a session can't be opened, or its journal not be written; each worded for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.errors import shown

if TYPE_CHECKING:
    from runtimes.radian.records import Entry


class SessionError(Exception):
    """A session can't be used; nothing was written."""


class BadSessionId(SessionError):  # noqa: N818 - the tree names what happened
    """Text that is no id of a session."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"{shown(text)} is no session id: letters, digits, '.', '_' and '-' only, "
            "a letter or digit first, at most 128 characters"
        )


class SessionMissing(SessionError):  # noqa: N818
    """No session has the id."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"there is no session {session_id}")


class SessionTaken(SessionError):  # noqa: N818
    """A new session can't have the id of another one, nor one that differs by case only."""

    def __init__(self, session_id: str, taken: str) -> None:
        alike = "" if taken == session_id else f": {taken} differs by case only"
        super().__init__(f"session id {session_id} is taken{alike}")


class SessionInUse(SessionError):  # noqa: N818
    """Another process writes the journal."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"session {session_id} is in use: another process has it open")


class SessionForeign(SessionError):  # noqa: N818
    """The session belongs to another workspace."""

    def __init__(self, session_id: str, workspace: str, here: str) -> None:
        super().__init__(f"session {session_id} belongs to workspace {workspace}, not to {here}")


class JournalDamaged(SessionError):  # noqa: N818
    """A journal has a line that can't be read, and others after it."""

    def __init__(self, path: str, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: {why}")
        self.line = line


class JournalNewer(SessionError):  # noqa: N818
    """A newer version wrote the journal in a format that this one does not know."""

    def __init__(self, path: str, line: int, version: int, known: int) -> None:
        super().__init__(
            f"{path}:{line}: written in journal format {version} by a newer version; "
            f"this one knows formats up to {known}"
        )


class NoSuchTurnEnd(SessionError):  # noqa: N818
    """What ``--at`` names is not the end of a turn."""


class JournalError(Exception):
    """A record could not be kept: the disk is full, or the file is gone."""

    def __init__(self, message: str, written: tuple[Entry, ...] = ()) -> None:
        """``written``: what is in the journal all the same, and may not survive a power cut."""
        super().__init__(message)
        self.written = written


class ExportExists(Exception):  # noqa: N818 - an answer to the person who named the file
    """The file that an export should go to is there already."""


def for_client(error: Exception, home: str) -> str:
    """Word an error for a client, which is not told where radian's own folder lies."""
    return str(error).replace(home, "RADIAN_HOME")
