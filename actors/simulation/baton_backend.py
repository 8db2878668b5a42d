"""Tasks on real threads that pass a baton: needs nothing, and debuggers see what they expect."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from actors.simulation.backend import Body
    from actors.simulation.task import SimTask

STACK_BYTES = 512 * 1024


class _Carrier:
    """A thread and its baton: held while it must wait."""

    __slots__ = ("baton", "frame", "task")

    def __init__(self) -> None:
        self.baton = threading.Lock()
        self.baton.acquire()
        self.task: SimTask | None = None
        self.frame: FrameType | None = None
        """Where it waits for the baton; None while it has it."""


class BatonBackend:
    """See `Backend`.  Threads are kept for the next world: making one costs more than a switch."""

    def __init__(self) -> None:
        """Start no thread yet."""
        self._idle: list[_Carrier] = []
        self._outside = threading.Lock()
        self._outside.acquire()
        self._body: Body

    def begin(self, body: Body) -> None:
        """See `Backend.begin`."""
        self._body = body

    def run(self, task: SimTask) -> None:
        """See `Backend.run`."""
        self._resume(task)
        self._outside.acquire()

    def hand_over(self, me: SimTask, to: SimTask | None) -> None:
        """See `Backend.hand_over`."""
        carrier = _carrier(me)
        # Noted here, not asked of the interpreter: `sys._current_frames` of Python 3.11 allocates
        # under a lock that a collection set off by it may want too, and then it hangs for ever
        # (https://github.com/python/cpython/issues/106883).
        carrier.frame = sys._getframe()  # noqa: SLF001 - cheaper than `inspect`  # pyright: ignore[reportPrivateUsage]
        self._resume(to)
        carrier.baton.acquire()
        carrier.frame = None

    def frame(self, task: SimTask) -> FrameType | None:
        """See `Backend.frame`.  The one task that has not noted a frame is the one that asks."""
        if task.carrier is None:
            return None
        return _carrier(task).frame or sys._getframe()  # noqa: SLF001 - as above  # pyright: ignore[reportPrivateUsage]

    def close(self) -> None:
        """See `Backend.close`."""
        while self._idle:
            self._idle.pop().baton.release()

    def _resume(self, task: SimTask | None) -> None:
        if task is None:
            self._outside.release()
            return
        if task.carrier is None:
            carrier = self._idle.pop() if self._idle else self._new_carrier()
            carrier.task, task.carrier = task, carrier
        _carrier(task).baton.release()

    def _new_carrier(self) -> _Carrier:
        carrier = _Carrier()
        before = threading.stack_size(STACK_BYTES)
        try:
            threading.Thread(
                target=self._carry, args=(carrier,), name="simulated", daemon=True
            ).start()
        finally:
            threading.stack_size(before)
        return carrier

    def _carry(self, carrier: _Carrier) -> None:
        while True:
            carrier.baton.acquire()
            task = carrier.task
            if task is None:  # a baton without a task: see `close`
                return
            to = self._body(task)
            # Idle first: the next task may be a new one, and then it gets this very thread.
            carrier.task, task.carrier = None, None
            self._idle.append(carrier)
            self._resume(to)


def _carrier(task: SimTask) -> _Carrier:
    carrier = task.carrier
    assert isinstance(carrier, _Carrier)  # noqa: S101 - set in `_resume`
    return carrier
