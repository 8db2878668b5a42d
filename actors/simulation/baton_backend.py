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

    __slots__ = ("baton", "task", "thread_id")

    def __init__(self) -> None:
        self.baton = threading.Lock()
        self.baton.acquire()
        self.task: SimTask | None = None
        self.thread_id = 0


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
        self._resume(to)
        _carrier(me).baton.acquire()

    def frame(self, task: SimTask) -> FrameType | None:
        """See `Backend.frame`."""
        if task.carrier is None:
            return None
        return sys._current_frames().get(_carrier(task).thread_id)  # noqa: SLF001 - the only way  # pyright: ignore[reportPrivateUsage]

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
        carrier.thread_id = threading.get_ident()
        while True:
            carrier.baton.acquire()
            task = carrier.task
            assert task is not None  # noqa: S101 - set by whoever gave us the baton
            to = self._body(task)
            # Idle first: the next task may be a new one, and then it gets this very thread.
            carrier.task, task.carrier = None, None
            self._idle.append(carrier)
            self._resume(to)


def _carrier(task: SimTask) -> _Carrier:
    carrier = task.carrier
    assert isinstance(carrier, _Carrier)  # noqa: S101 - set in `_resume`
    return carrier
