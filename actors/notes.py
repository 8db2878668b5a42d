"""What a main thread waits for while signals may come.

`queue.SimpleQueue` will not do.  Of two signals at once the kernel hands the second to any thread,
and a main thread asleep on a lock then never runs its handler (lost in one of four tries).  So
the interpreter rings a pipe for each signal, in whatever thread it lands, and we poll that pipe.
"""

from __future__ import annotations

import math
import queue
import select
import time
from collections import deque
from typing import Generic, TypeVar

from actors import signals
from actors.stdio import WakePipe

T = TypeVar("T")


class SignalNotes(Generic[T]):
    """A queue that any thread and any signal handler may fill, and only the main thread empties."""

    def __init__(self) -> None:
        """Take over the interpreter's wake-up descriptor; on the main thread only."""
        self._notes: deque[T] = deque()
        self._bell = WakePipe()
        self._poll = select.poll()
        self._poll.register(self._bell.fd, select.POLLIN)
        signals.ring(self._bell.ring_fd)

    def put(self, note: T, /) -> None:
        """Leave a note.  Never waits; safe in a signal handler."""
        self._notes.append(note)
        self._bell.ring()

    def get(self, block: bool = True, timeout: float | None = None) -> T:  # noqa: FBT001, FBT002 - the queue's own signature
        """Wait for the next note.

        Raises:
            queue.Empty: None came within ``timeout`` seconds.

        """
        until = None if timeout is None else time.monotonic() + timeout
        while not self._notes:
            left_s = None if until is None else max(0.0, until - time.monotonic())
            left_ms = None if left_s is None else math.ceil(left_s * 1000)
            if not self._poll.poll(left_ms if block else 0):
                raise queue.Empty
            self._bell.silence()
        return self._notes.popleft()
