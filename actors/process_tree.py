"""Finding and signalling everything below a process, and nothing else.

A pid read from /proc may be another process a moment later.  So each child is pinned by a pidfd
first, then its parent is read and the parent's own pin is checked: a signal reaches a proven
descendant or nobody.  Used by the guardian and its wardens, and by a server for what both left
behind; imports few modules.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from errno import EMFILE, ENFILE, ESRCH

TYPE_CHECKING = False  # importing `typing` for it would cost 4 ms of the guardian's start
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MAX_DEPTH = 200
"""Levels that one pass goes down (each holds a descriptor).  Deeper ones surface as their
parents die, and the next pass finds them."""
MAX_PASSES = 20
"""A tree that still moves after so many, and after our patience, is told as far as it was met."""
TERM_PATIENCE_S = 0.5
"""What a tree gets to stand still before it is told to stop.  On a busy machine a process may wait
long for a processor, and without one it can't take a signal."""
KILL_PATIENCE_S = 0.05
"""The same before it is killed: less, because what is missed dies in the next round."""
FIRST_PAUSE_S, LAST_PAUSE_S = 0.0001, 0.005
"""Between two looks at a tree that doesn't stand still yet; each is twice the one before."""
NOBODY: frozenset[int] = frozenset()
AWAKE = (b"R", b"S")
"""States in /proc of who runs, is about to, or wakes for a signal.  Who waits in the kernel for
something else stops before it gets back to its program: a parent in `vfork`, whose child is to be
seen by then, above all."""
FLAGS, THREADS, STARTED = 6, 17, 19
"""Where /proc tells these, counted from the state on: bits, a number, clock ticks after boot."""
FORKED_ONLY = 0x40
"""The bit of a process that was forked and has not run a program yet (PF_FORKNOEXEC)."""
YOUNG_S = 10.0
"""Forked that lately, it may be about to run one, on a machine as busy as may be.  An older one is
a subshell, and a program that it runs after our TERM is its way of tidying up."""
SHORTAGE = (EMFILE, ENFILE)
"""No descriptor is left, here or in the whole system: a pass then ends higher up, as at MAX_DEPTH.
Nobody below us may live on because someone set a low limit."""


def adopt_orphans() -> None:
    """Become the new parent of any descendant whose parent dies (not inherited by children)."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def hear_of_parents_death(number: int) -> None:
    """Get the signal ``number`` when our parent dies; the caller then checks it still lives."""
    _prctl(PR_SET_PDEATHSIG, number)


def _prctl(option: int, value: int) -> None:
    if not LINUX:
        return
    import ctypes  # 4 ms, which no step of a server waits for

    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def _nothing() -> None:
    """Bury nobody."""


def terminate_below(leader: int, bury: Callable[[], object] = _nothing) -> frozenset[int]:
    """TERM to every descendant of ours, so that none can react before all have been told.

    Returns those that may lose it: see `tell_losers`.

    Frozen first, woken last and children before parents: a shell can't go on to its next
    command because it saw the one before die.  Outside Linux: the group of ``leader``.
    ``bury`` reaps our dead, again and again: who forks and exits without end leaves so many that
    looking at them would take longer than the living one stays.
    """
    if not LINUX:
        _signal_group(leader, signal.SIGTERM)
        return NOBODY
    frozen = freeze_below(bury)
    unsure = frozenset(filter(_may_lose_term, frozen))
    _tell(frozen, signal.SIGTERM)
    _tell(frozen, signal.SIGCONT)
    return unsure


def _may_lose_term(pid: int) -> bool:
    """Tell whether ``pid`` was just forked by one that catches TERM, and runs no program yet.

    It has its parent's handlers until then.  A shell's handler notes the signal for the shell's
    next command, which this child will never come to; Python's does the same.
    """
    stat = _stat_or_nothing(pid)
    if not stat or not int(stat[FLAGS]) & FORKED_ONLY:
        return False
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(stat[STARTED]) / os.sysconf("SC_CLK_TCK")
    return age_s < YOUNG_S and not _has_default_term(pid)


def tell_losers(unsure: frozenset[int]) -> frozenset[int]:
    """TERM again to those of ``unsure`` that lost it; return those of whom nothing is known yet.

    Who runs a program since, one that TERM would end, and lives, did not get ours.  Who set its
    handler back and tidies up is not meant: it runs no new program.
    """
    alive = {pid: stat for pid in unsure if (stat := _stat_or_nothing(pid)) and stat[0] != b"Z"}
    waiting = frozenset(pid for pid, stat in alive.items() if int(stat[FLAGS]) & FORKED_ONLY)
    lost = frozenset(filter(_has_default_term, alive.keys() - waiting))
    if lost:
        _tell(lost, signal.SIGTERM)
    return waiting


def _stat_or_nothing(pid: int) -> list[bytes]:
    try:
        return _stat(f"/proc/{pid}")
    except OSError as error:
        if error.errno not in SHORTAGE:
            raise
        return []


def _has_default_term(pid: int) -> bool:
    """Tell whether TERM ends ``pid`` at once: it is neither caught, ignored nor blocked."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return False
    sets = [line for line in lines if line.startswith((b"SigBlk", b"SigIgn", b"SigCgt"))]
    return not any(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1 for line in sets)


def _tell(owed: frozenset[int], number: int) -> None:
    """Send ``number`` once to each of ``owed`` that is still below us, wherever it is by now.

    One pass is not enough.  Who dies of TERM before it stood still hands its children to us, and
    a pass that has read our list before and reads theirs after that meets them in neither.
    """
    for _ in range(MAX_PASSES):
        owed -= _visit(_reachable(os.getpid()), os.getpid(), None, number, among=owed)
        owed = frozenset(filter(_exists, owed))
        if not owed:
            return


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def kill_below(
    leader: int = 0, bury: Callable[[], object] = _nothing, *, spare: frozenset[int] = NOBODY
) -> None:
    """KILL to every descendant of ours except the children in ``spare`` and what is below them.

    One round; who was forked in between, or surfaces as an orphan, takes another one.
    """
    if not LINUX:
        _signal_group(leader, signal.SIGKILL)
        return
    _freeze(lambda: _all_but(spare), bury, KILL_PATIENCE_S)
    _visit(_all_but(spare), os.getpid(), None, signal.SIGKILL)


def kill_children(pids: Sequence[int]) -> None:
    """KILL to these children of ours and all below them.  One round, Linux only."""
    _freeze(lambda: pids, _nothing, KILL_PATIENCE_S)
    _visit(pids, os.getpid(), None, signal.SIGKILL)


def freeze_below(bury: Callable[[], object] = _nothing) -> frozenset[int]:
    """STOP every descendant and return them: what stands still can't fork."""
    return _freeze(lambda: _all_but(NOBODY), bury, TERM_PATIENCE_S)


def _freeze(
    tops: Callable[[], Sequence[int]], bury: Callable[[], object], patience_s: float
) -> frozenset[int]:
    """Go on until two passes meet the same ones, and the last found all of them standing still."""
    frozen: frozenset[int] = NOBODY
    before: set[int] | None = None
    passes, until_s, pause_s = 0, time.monotonic() + patience_s, FIRST_PAUSE_S
    while passes < MAX_PASSES or time.monotonic() < until_s:
        passes += 1
        bury()
        moving: set[int] = set()
        found = _visit(tops(), os.getpid(), None, signal.SIGSTOP, moving=moving)
        frozen |= found
        if found == before:
            if not moving:
                break
            select.select((), (), (), pause_s)  # they need the processor more than we do
            pause_s = min(2 * pause_s, LAST_PAUSE_S)
        before = found
    return frozen


def _all_but(spare: frozenset[int]) -> list[int]:
    return [pid for pid in _reachable(os.getpid()) if pid not in spare]


def children(parent: int) -> list[int]:
    """The children of ``parent`` at about this moment, of all its threads."""
    found: list[int] = []
    for thread in _threads(parent):
        try:
            found += children_of_thread(parent, thread)
        except (FileNotFoundError, ProcessLookupError):  # of the others' children it tells nothing
            if _kernel_lacks_lists():
                return _children_by_scan(parent)
    return found


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return []


def children_of_thread(parent: int, thread: int | str) -> list[int]:
    """Read what one thread of ``parent`` started; orphans that fell to it are the main thread's.

    Raises:
        FileNotFoundError: There is no such thread, or this kernel has no such lists.

    """
    with open(f"/proc/{parent}/task/{thread}/children", "rb") as file:
        return [int(pid) for pid in file.read().split()]


def _kernel_lacks_lists() -> bool:
    """Tell whether this kernel has no ``children`` files (CONFIG_PROC_CHILDREN)."""
    own = os.getpid()
    return not os.path.exists(f"/proc/{own}/task/{own}/children")


def _children_by_scan(parent: int) -> list[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if parent_of(pid) == parent]


def parent_of(pid: int) -> int | None:
    """Read the parent of ``pid``; None when there is no such process."""
    stat = _stat(f"/proc/{pid}")
    return int(stat[1]) if stat else None


def _stat(path: str) -> list[bytes]:
    """Read what /proc tells of a process or thread, from its state on; nothing when it is gone."""
    try:
        with open(f"{path}/stat", "rb") as file:
            # The name before these, in parentheses, may hold anything.
            return file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _stands(pid: int) -> bool:
    """Tell whether every thread of a ``pid`` that was sent STOP stands still, or is gone.

    A thread may be in the middle of a fork, and its child is to be seen only at the end of that;
    of many threads one takes the signal and tells the others.  Unread for want of descriptors: yes.
    """
    path = f"/proc/{pid}"
    try:
        stat = _stat(path)
        if stat and stat[0] not in AWAKE and int(stat[THREADS]) > 1:
            threads = (_stat(f"{path}/task/{thread}") for thread in _threads(pid))
            return not any(each and each[0] in AWAKE for each in threads)
    except OSError as error:
        if error.errno not in SHORTAGE:
            raise
        return True
    return not stat or stat[0] not in AWAKE


def _visit(
    pids: Sequence[int],
    parent: int,
    parent_pin: int | None,
    number: int,
    depth: int = 0,
    *,
    among: frozenset[int] | None = None,
    moving: set[int] | None = None,
) -> set[int]:
    """Send ``number`` to ``pids``, children of ``parent``, and to all below them; return them.

    STOP goes from the top down, others bottom up.  ``among``: nobody else gets it.  ``moving``
    takes whoever did not stand still yet when its children were read: it may have had another one.
    """
    reached: set[int] = set()
    for pid in reversed(pids):  # the youngest first, the only one alive of those that just forked
        if depth == MAX_DEPTH or (pin := _pin(pid)) is None:
            continue
        try:
            if not _is_child(pid, parent, parent_pin):
                continue
            stopped = number == signal.SIGSTOP and _send(pin, number)
            if stopped and moving is not None and not _stands(pid):
                moving.add(pid)
            below = _reachable(pid)
            reached |= {
                pid,
                *_visit(below, pid, pin, number, depth + 1, among=among, moving=moving),
            }
            if number != signal.SIGSTOP and (among is None or pid in among):
                _send(pin, number)
        finally:
            os.close(pin)
    return reached


def _reachable(parent: int) -> list[int]:
    """Return the children of ``parent``; none when they can't be read for want of descriptors."""
    try:
        return children(parent)
    except OSError as error:
        if error.errno not in SHORTAGE:
            raise
        return []


def _pin(pid: int) -> int | None:
    """Take hold of whoever has ``pid`` now; None when nobody has, or no descriptor is left."""
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno not in {ESRCH, *SHORTAGE}:
            raise
        return None


def _is_child(pid: int, parent: int, parent_pin: int | None) -> bool:
    """Tell whether ``pid`` is below ``parent``, which must still be the one that was pinned.

    What can't be read for want of descriptors is not proven.
    Reading a number of a dead child's successor does no harm: its pin is dead as well.
    """
    try:
        return parent_of(pid) == parent and (parent_pin is None or _send(parent_pin, 0))
    except OSError as error:
        if error.errno not in SHORTAGE:
            raise
        return False


def _send(pin: int, number: int) -> bool:
    """Signal a pinned process; False when it is gone or out of our reach (another user's)."""
    try:
        signal.pidfd_send_signal(pin, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal_group(leader: int, number: int) -> None:
    if leader == 0:
        return  # no step of ours; to the kernel it would mean our own group
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return
