"""Which projects a person trusts: a file of ours, looked up before anything of theirs is opened.

Without trust, nothing that a project brings is loaded: configuration, hooks, MCP servers, skills,
agents, instructions.
"""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import orjson

from actors.faults import WITH_ERROR, point
from ops.plain_file import plain
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.faults import Faults

AT_SAVE = point("trust.save", "the trust file is about to be replaced", WITH_ERROR)
MAX_FILE_BYTES = 4 * 1024 * 1024


INSTRUCTIONS = "AGENTS.md"
SETTINGS = (".radian", "config.toml")


def brings_something(workspace: str) -> bool:
    """Tell whether there is anything in a project that trust would load.

    Looks at names only: nothing is opened, listed or followed.
    """
    if _kind(os.path.join(workspace, INSTRUCTIONS)) not in {None, stat.S_IFDIR}:
        return True
    folder = os.path.join(workspace, SETTINGS[0])
    kind = _kind(folder)
    if kind == stat.S_IFDIR:
        return _kind(os.path.join(folder, SETTINGS[1])) not in {None, stat.S_IFDIR}
    return kind == stat.S_IFLNK


def _kind(path: str) -> int | None:
    """Return what a name stands for; None: nothing that we could get at."""
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return None


class TrustInvalidError(Exception):
    """The trust file can't be read as one; nothing is trusted then.  The text names the file."""


@frozen
class Trust:
    """What was found for a workspace."""

    trusted: bool
    listed: str | None = None
    """The path that decided: the workspace or its nearest listed parent; None: no such entry."""


class TrustFile:
    """The trust file of one user.  Every call reads it: another process may have written."""

    def __init__(self, path: str, faults: Faults) -> None:
        """``path``: absolute; the file need not exist."""
        self._path = path
        self._faults = faults

    def look_up(self, workspace: str) -> Trust:
        """Judge a workspace; touches nothing of it but its links.

        Raises:
            TrustInvalidError: See there.

        """
        entries = self._entries()
        path: str = os.path.realpath(workspace)
        while path not in entries:
            parent: str = os.path.dirname(path)
            if parent == path:
                return Trust(trusted=False)
            path = parent
        return Trust(entries[path].get("trusted") is True, path)

    def save(self, workspace: str, *, trusted: bool) -> str:
        """Note a person's answer; return the path that it holds for, links resolved.

        Raises:
            TrustInvalidError: The file is broken; it is left as it is.
            OSError: The disk refused.

        """
        path = os.path.realpath(workspace)
        when = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._change(path, {"trusted": trusted, "when": when})
        return path

    def forget(self, workspace: str) -> bool:
        """Take an entry out; tell whether there was one."""
        return self._change(os.path.realpath(workspace), None)

    def _change(self, path: str, entry: dict[str, object] | None) -> bool:
        """Put an entry in or take it out, under a lock: two processes may do so at once."""
        import fcntl

        folder = os.path.dirname(self._path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._faults.at(AT_SAVE, os.path.basename(self._path))
        lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            entries = self._entries()
            there = entries.pop(path, None) is not None
            if entry is not None:
                entries[path] = entry
            if there or entry is not None:
                self._write(entries)
            return there
        finally:
            os.close(lock)

    def _write(self, entries: Mapping[str, object]) -> None:
        from ops.whole_file import whole_file

        self._faults.at(AT_SAVE, "write")
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        with whole_file(self._path, 0o600, self._faults) as stream:
            stream.write(orjson.dumps(entries, option=options))
            stream.flush()
            os.fsync(stream.fileno())

    def _entries(self) -> dict[str, dict[str, object]]:
        try:
            with open(self._path, "rb", opener=plain) as stream:
                data = stream.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            message = f"can't read {self._path}: {error.strerror}; no project is trusted"
            raise TrustInvalidError(message) from error
        try:
            value: object = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            message = f"{self._path} is not JSON ({error}); no project is trusted"
            raise TrustInvalidError(message) from error
        if not _is_table_of_tables(value):
            message = f"{self._path} is not a map of paths; no project is trusted"
            raise TrustInvalidError(message)
        return cast("dict[str, dict[str, object]]", value)


def _is_table_of_tables(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(entry, dict) for entry in cast("dict[object, object]", value).values()
    )
