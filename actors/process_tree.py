"""Finding and signalling everything below a process, and nothing else.

A pid read from /proc may be another process a moment later.  So each child is pinned by a pidfd
first, then its parent is read and the parent's own pin is checked: a signal reaches a proven
descendant or nobody.  Used by the guardian and its wardens, and by a server for what both left
behind; imports few modules.
"""

from __future__ import annotations

import os
import signal
import sys
from errno import EMFILE, ENFILE, ESRCH

TYPE_CHECKING = False  # importing `typing` for it would cost 4 ms of the guardian's start
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MAX_DEPTH = 200
"""Levels that one pass goes down (each holds a descriptor).  Deeper ones surface as their
parents die, and the next pass finds them."""
MAX_PASSES = 20
"""A tree that still changes after so many is signalled as far as it is known."""
NOBODY: frozenset[int] = frozenset()
AWAKE = (b"R", b"S")
"""States in /proc of who runs, is about to, or wakes for a signal.  Who waits in the kernel for
something else stops before it gets back to its program."""
THREADS = 17
"""Where /proc tells the number of threads, counted from the state on."""
SHORTAGE = (EMFILE, ENFILE)
"""No descriptor is left, here or in the whole system: a pass then ends higher up, as at MAX_DEPTH.
Nobody below us may live on because someone set a low limit."""


def adopt_orphans() -> None:
    """Become the new parent of any descendant whose parent dies (not inherited by children)."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int) -> None:
    """Get the signal ``number`` when our parent dies; the caller then checks it still lives."""
    _prctl(PR_SET_PDEATHSIG, number)


def _prctl(option: int, value: int) -> None:
    if not LINUX:
        return
    import ctypes  # 4 ms, which no step of a server waits for

    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def terminate_below(leader: int) -> None:
    """TERM to every descendant of ours, so that none can react before all have been told.

    Frozen first, woken last and children before parents: a shell can't go on to its next
    command because it saw the one before die.  Outside Linux: the group of ``leader``.
    """
    if not LINUX:
        _signal_group(leader, signal.SIGTERM)
        return
    frozen = freeze_below()
    _tell(frozen, signal.SIGTERM)
    _tell(frozen, signal.SIGCONT)


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


def kill_below(leader: int = 0, *, spare: frozenset[int] = NOBODY) -> None:
    """KILL to every descendant of ours except the children in ``spare`` and what is below them.

    One round; who was forked in between, or surfaces as an orphan, takes another one.
    """
    if not LINUX:
        _signal_group(leader, signal.SIGKILL)
        return
    freeze_below(spare=spare)
    _visit(_all_but(spare), os.getpid(), None, signal.SIGKILL)


def kill_children(pids: Collection[int]) -> None:
    """KILL to these children of ours and all below them.  One round, Linux only."""
    _freeze(lambda: pids)
    _visit(pids, os.getpid(), None, signal.SIGKILL)


def freeze_below(*, spare: frozenset[int] = NOBODY) -> frozenset[int]:
    """STOP every descendant and return them: what is stopped can't fork."""
    return _freeze(lambda: _all_but(spare))


def _freeze(tops: Callable[[], Collection[int]]) -> frozenset[int]:
    """Go on until a pass meets no new one, and none that could still fork one."""
    frozen: frozenset[int] = NOBODY
    for _ in range(MAX_PASSES):
        found = _visit(tops(), os.getpid(), None, signal.SIGSTOP)
        if found <= frozen and not any(map(_may_fork, found)):
            break
        frozen |= found
    return frozen


def _all_but(spare: frozenset[int]) -> list[int]:
    return [pid for pid in _reachable(os.getpid()) if pid not in spare]


def children(parent: int) -> list[int]:
    """The children of ``parent`` at about this moment, of all its threads."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{parent}/task"):
            found += children_of_thread(parent, thread)
    except FileNotFoundError:
        return _children_by_scan(parent) if _kernel_lacks_lists() else found
    except ProcessLookupError:
        return found
    return found


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
    stat = _stat(pid)
    return int(stat[1]) if stat else None


def _stat(pid: int) -> list[bytes]:
    """Read what /proc tells of ``pid``, from its state and parent on; nothing when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name before these, in parentheses, may hold anything.
            return file.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _may_fork(pid: int) -> bool:
    """Tell whether some thread of a ``pid`` that was sent STOP may not know of it yet.

    One of its threads takes the signal, once a processor is free, and stops the others then.  A
    process of one thread sees it before it forks.  Unread for want of descriptors: no.
    """
    try:
        stat = _stat(pid)
    except OSError as error:
        if error.errno not in SHORTAGE:
            raise
        return False
    return bool(stat) and stat[0] in AWAKE and int(stat[THREADS]) > 1


def _visit(
    pids: Collection[int],
    parent: int,
    parent_pin: int | None,
    number: int,
    depth: int = 0,
    *,
    among: frozenset[int] | None = None,
) -> set[int]:
    """Send ``number`` to ``pids``, children of ``parent``, and to all below them; return them.

    STOP goes from the top down, others bottom up.  ``among``: nobody else gets it.
    """
    reached: set[int] = set()
    for pid in pids:
        if depth == MAX_DEPTH or (pin := _pin(pid)) is None:
            continue
        try:
            if not _is_child(pid, parent, parent_pin):
                continue
            if number == signal.SIGSTOP:
                _send(pin, number)
            reached |= {pid, *_visit(_reachable(pid), pid, pin, number, depth + 1, among=among)}
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
