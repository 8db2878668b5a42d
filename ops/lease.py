"""The lease on an environment: one process of this repository operates it at a time.

A lock on a file below the git directory, which the system lets go of when its holder dies in
whatever way.  What is written in the file is for people and for ``operator status``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ops.errors import OpsError
from ops.faults import BEFORE_LOCK, NoFaults
from ops.json_in import read_json
from ops.plain_file import plain
from ops.processes import is_same, start_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.faults import Faults

FOLDER = "operator"
MAX_NOTE_BYTES = 64 * 1024


class LeaseHeld(OpsError):  # noqa: N818 - the tree names what happened
    """Another process operates the environment."""


@dataclass(slots=True)
class Lease:
    """A lease that this process holds until `end`, or its death."""

    path: str
    note: Mapping[str, Any]
    _lock: int = -1

    def end(self) -> None:
        """Let go.  Safe to call twice."""
        lock, self._lock = self._lock, -1
        if lock < 0:
            return
        try:
            os.truncate(lock, 0)
        finally:
            os.close(lock)


def take_lease(
    state_dir: str, env: str, steward: str, since: str, faults: Faults | None = None
) -> Lease:
    """Take the lease on ``env``; one whose holder is dead is free.

    Raises:
        LeaseHeld: Another process holds it; says which.
        OSError: The file can't be written.

    """
    import fcntl

    path = _path(state_dir, env)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        (faults or NoFaults()).at(BEFORE_LOCK.name, "lease")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        note = _note(env, steward, since)
        os.truncate(lock, 0)
        os.pwrite(lock, json.dumps(note).encode() + b"\n", 0)
    except BlockingIOError as error:
        os.close(lock)
        raise LeaseHeld(_held(env, read_note(state_dir, env))) from error
    except BaseException:
        os.close(lock)
        raise
    return Lease(path, note, lock)


def _note(env: str, steward: str, since: str) -> dict[str, Any]:
    pid = os.getpid()
    return {
        "steward": steward,
        "env": env,
        "host": os.uname().nodename,
        "pid": pid,
        "start_time": start_time(pid),
        "since": since,
    }


def read_note(state_dir: str, env: str) -> dict[str, Any] | None:
    """Return what the holder of a lease wrote; None when nobody did, or nothing that we know."""
    try:
        with open(_path(state_dir, env), "rb", opener=plain) as stream:
            note: Any = read_json(stream.read(MAX_NOTE_BYTES))
    except (OSError, ValueError):
        return None
    whole = {"steward", "env", "host", "pid", "start_time", "since"}
    if not isinstance(note, dict) or not whole <= cast("dict[str, Any]", note).keys():
        return None
    return cast("dict[str, Any]", note)


def holder(state_dir: str, env: str) -> dict[str, Any] | None:
    """Return the note of the process that operates ``env`` now; None: nobody does.

    A process of another machine is believed: its number says nothing here.
    """
    note = read_note(state_dir, env)
    if note is None:
        return None
    if note["host"] != os.uname().nodename:
        return note
    return note if is_same(note["start_time"], start_time(int(note["pid"]))) else None


def _path(state_dir: str, env: str) -> str:
    return os.path.join(state_dir, FOLDER, f"{env}.lease")


def _held(env: str, note: Mapping[str, Any] | None) -> str:
    if note is None:
        return f"{env} is operated by another process already"
    who = f"process {note['pid']} on {note['host']}, for steward {note['steward']}"
    return f"{env} is operated by {who}, since {note['since']}"
