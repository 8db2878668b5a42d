"""What falls to us when a guardian and its wardens die at one stroke, and the end of it.

Orphans of steps fall to their warden, and without it to the guardian.  With both gone they would
fall to init and live on, so this process takes them in as well.  The kernel hands an orphan to
our main thread, and what is below a warden is outside our session for good: nobody can join one.
Programs that we run ourselves are children of the threads that wait for them, never of the main
thread while steps run.  So a child of the main thread in another session is an orphan, unless it
is a guardian.  Linux only; elsewhere nobody can take orphans in.
"""

from __future__ import annotations

import os
import select
import threading
from contextlib import ExitStack, suppress
from signal import SIGCONT
from typing import TYPE_CHECKING

from actors.process_tree import LINUX, SHORTAGE, adopt_orphans, children_of_thread, kill_children

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.platform import Platform

LIMIT_S = 5.0
"""What killed orphans get to disappear; longer means the kernel holds them."""
ROUND_MS = 50.0
"""Between two rounds of killing, when nobody's end comes first."""

_lock = threading.Lock()
_guardians: set[int] = set()
"""Of this process: alive, or not reaped yet."""


def start_guardian(spawn: Callable[[], int]) -> int:
    """Start one by ``spawn``, which returns its pid; at no moment is it taken for an orphan."""
    with _lock:
        pid = spawn()
        _guardians.add(pid)
    return pid


def forget_guardian(pid: int) -> None:
    """Take note that a guardian was reaped: its number may be anyone's now."""
    with _lock:
        _guardians.discard(pid)


def take_in() -> None:
    """Become the parent of what a dead guardian leaves behind.

    Costs some milliseconds at the first time.
    """
    adopt_orphans()


def end_orphans(platform: Platform) -> bool:
    """Kill and reap all orphans, until none is left; False when that takes over `LIMIT_S`.

    A warden that lost its guardian does that itself, and would also should we be killed just now;
    so it is only asked to, until half of the time is over.
    """
    until_s = platform.monotonic() + LIMIT_S
    while True:
        left_s = until_s - platform.monotonic()
        with _lock:  # or a guardian that is just being started would be one
            found = _orphans()
            if found is not None:
                wardens = _asked(found) if left_s > LIMIT_S / 2 else []
                kill_children([pid for pid in found if pid not in wardens])
        if found == []:
            return True
        if left_s < 0:
            return False
        _wait_for_one(found or [])
        _bury(found or [])


def bury_dead() -> None:
    """Reap orphans that died by themselves: also programs of ours leave such behind."""
    with _lock:
        _bury(_orphans() or [])


def _orphans() -> list[int] | None:
    """Find them, the dead included; None when no descriptor is left to look with."""
    if not LINUX:
        return []
    own = os.getpid()
    try:
        found = children_of_thread(own, own)
    except FileNotFoundError:
        return []  # this kernel has no such lists (CONFIG_PROC_CHILDREN)
    except OSError as error:
        if error.errno not in SHORTAGE:
            raise
        return None
    ours = os.getsid(0)
    return [pid for pid in found if pid not in _guardians and _session(pid) not in {None, ours}]


def _asked(orphans: list[int]) -> list[int]:
    """Ask the wardens among the orphans to kill what is below them; return them."""
    from actors.guardian_main import KILL_TREE, RESET_IN_STEPS

    mask = sum(1 << (number - 1) for number in RESET_IN_STEPS)
    wardens = [pid for pid in orphans if _ignored_signals(pid) & mask == mask]
    for pid in wardens:
        os.kill(pid, KILL_TREE)  # our child, not reaped yet: the pid is its own
        os.kill(pid, SIGCONT)  # should a step have stopped it
    return wardens


def _ignored_signals(pid: int) -> int:
    """Read what a process ignores, as a mask: a warden much that no program is started with."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return next(int(line.split()[1], 16) for line in file if line.startswith(b"SigIgn:"))
    except (OSError, StopIteration):
        return 0  # it is gone, or no descriptor is left: the next round


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def _wait_for_one(pids: list[int]) -> None:
    """Wait for the end of one of them, at most a round."""
    poll = select.poll()
    with ExitStack() as pins:
        for pid in pids:
            with suppress(OSError):  # reaped by somebody, or no descriptor is left: the next round
                pin = os.pidfd_open(pid)
                pins.callback(os.close, pin)
                poll.register(pin, select.POLLIN)
        poll.poll(ROUND_MS)


def _bury(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ChildProcessError):  # somebody reaps all children of this process
            os.waitpid(pid, os.WNOHANG)
