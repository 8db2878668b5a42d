"""Who is alive: processes found by a mark in their environment or arguments, and held by pidfd."""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def marked(mark: str) -> set[int]:
    """Find the living processes that carry ``mark``; this one does not count."""
    wanted = mark.encode()
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return {pid for pid in pids if pid != os.getpid() and wanted in _words_of(pid)}


def _words_of(pid: int) -> bytes:
    """Arguments and environment as they were at its start; nothing for a zombie."""
    words = b""
    for part in ("cmdline", "environ"):
        try:
            with open(f"/proc/{pid}/{part}", "rb") as file:
                words += file.read()
        except OSError:
            return b""
    return words


def described(pids: Iterable[int]) -> str:
    """Name processes for a person who reads a failed assertion."""
    return ", ".join(f"{pid} {_command(pid)!r}" for pid in sorted(pids))


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return "(gone)"


def wait_until_gone(pids: Iterable[int], deadline_s: float) -> set[int]:
    """Wait for the end of ``pids``; return those that still live at the deadline."""
    until = time.monotonic() + deadline_s
    left: set[int] = set()
    for pid in pids:
        try:
            pin = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        poll = select.poll()
        poll.register(pin, select.POLLIN)
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            left.add(pid)
        os.close(pin)
    return left


def is_quiet(pid: int) -> bool:
    """Tell whether every thread of ``pid`` sleeps right now."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return all(_state(f"/proc/{pid}/task/{thread}/stat") == "S" for thread in threads)
    except (FileNotFoundError, ProcessLookupError):
        return False


def _state(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def cpu_ticks(pid: int) -> int:
    """Return how long ``pid`` has run so far, in clock ticks."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def threads_of(pid: int) -> int:
    """Count threads."""
    return len(os.listdir(f"/proc/{pid}/task"))


def descriptors_of(pid: int) -> int:
    """Count open descriptors."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident_kib(pid: int, line: str = "VmRSS") -> int:
    """Read a line of /proc/PID/status in KiB."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for text in file:
            if text.startswith(line + ":"):
                return int(text.split()[1])
    raise KeyError(line)


def wait_until_caught(pid: int, number: int, deadline_s: float = 20) -> None:
    """Wait until the process has a handler of its own for a signal."""
    until = time.monotonic() + deadline_s
    while not _caught(pid) & (1 << (number - 1)):
        assert time.monotonic() < until, f"process {pid} does not catch signal {number}"


def _caught(pid: int) -> int:
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(row.split()[1], 16) for row in status if row.startswith("SigCgt"))
