"""Telling whether a process that left a note is still the one that runs."""

from __future__ import annotations

import os

BOOT_ID = "/proc/sys/kernel/random/boot_id"


def start_time(pid: int) -> str | None:
    """Return a mark that no other process with this number shares; None when it is gone.

    Where that can't be seen, since there is no /proc or it hides what others run (``hidepid``), the
    mark is empty for every process that lives.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The name in brackets may hold spaces and brackets; the fields begin behind it.
            fields = stat.read().rpartition(b")")[2].split()
        with open(BOOT_ID, "rb") as boot:
            boot_id = boot.read().strip().decode()
    except (FileNotFoundError, PermissionError):
        return "" if _lives(pid) else None
    except ProcessLookupError:
        return None
    if fields[0] in {b"Z", b"X"}:
        return None
    return f"{boot_id}:{fields[19].decode()}"


def is_same(noted: object, now: str | None) -> bool:
    """Tell whether a process lives and is, as far as one can see, the one whose mark was noted."""
    return now is not None and (now == noted or "" in (now, noted))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
