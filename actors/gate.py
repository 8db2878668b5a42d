"""The gate: at most 64 messages between the producers and the client.

Pending is what is queued plus what is being written, and is never more than the capacity.  Slots
are freed only when the bytes have left.  Full: the producer waits, nothing is dropped.  Batch and
byte offset live here, so a writer that is started again goes on in the middle of a line.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from actors.faults import point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.faults import Faults
    from actors.platform import Platform

CAPACITY = 64
"""Messages; the seed's number."""

BEFORE_PUT = point("gate.put", "a producer is about to hand messages to the gate")
BEFORE_TAKE = point("gate.take", "the writer is about to take a batch from the gate")


class GateClosed(Exception):  # noqa: N818 - an ordinary end, not an error
    """The connection is over; what was handed in is abandoned."""


class Gate:
    """A first-in, first-out queue that makes producers wait and can be closed under them."""

    def __init__(self, platform: Platform, faults: Faults, capacity: int = CAPACITY) -> None:
        """Make an open gate for ``capacity`` messages."""
        self._changed = platform.condition()
        self._faults = faults
        self._capacity = capacity
        self._queue: deque[bytes] = deque()
        self._batch = memoryview(b"")
        self._batch_count = 0
        self._closed = False
        self._waiting = 0
        self._wake: Callable[[], None] = _nobody
        self.peak = 0
        """Highest number of pending messages so far."""
        self.abandoned = 0
        """Messages that were pending when the gate closed."""

    def on_ready(self, wake: Callable[[], None]) -> None:
        """Have ``wake`` called when there is something to write; it must not wait."""
        self._wake = wake

    @property
    def pending(self) -> int:
        """Messages queued or being written."""
        return len(self._queue) + self._batch_count

    @property
    def waiting(self) -> int:
        """Producers that wait for room."""
        return self._waiting

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def put(self, frames: Sequence[bytes]) -> None:
        """Append messages in order, waiting for room as often as it takes.

        Raises:
            GateClosed: Closed before all of them were accepted.

        """
        self._faults.at(BEFORE_PUT)
        for group in self._faults.lines(frames):
            self._put(group)

    def _put(self, frames: Sequence[bytes]) -> None:
        done, count = 0, len(frames)
        while done < count:
            with self._changed:
                room = self._wait_for_room()
                was_idle = not self._queue and not self._batch_count
                some = frames[done : done + room]
                self._queue.extend(some)
                self.peak = max(self.peak, self.pending)
            done += len(some)
            if was_idle:
                self._wake()

    def take(self) -> memoryview:
        """Return what must be written next: the rest of the batch, or a new one; empty: nothing.

        A new batch is the whole queue, joined.  Its slots stay taken until `written` says so.
        """
        self._faults.at(BEFORE_TAKE)
        with self._changed:
            if not self._batch_count and self._queue:
                self._batch = memoryview(b"".join(self._queue))
                self._batch_count = len(self._queue)
                self._queue.clear()
            return self._batch

    def written(self, size: int) -> None:
        """Count ``size`` bytes of the batch as gone; its end frees its slots."""
        with self._changed:
            self._batch = self._batch[size:]
            if not self._batch:
                self._batch_count = 0
                if self._waiting:
                    self._changed.notify_all()

    def wait_empty(self, timeout_s: float, platform: Platform) -> bool:
        """Wait until nothing is pending, at most ``timeout_s`` seconds; False if it took longer."""
        until = platform.monotonic() + timeout_s
        with self._changed:
            self._waiting += 1
            try:
                while self.pending:
                    if (left_s := until - platform.monotonic()) <= 0:
                        return False
                    self._changed.wait(left_s)
            finally:
                self._waiting -= 1
        return True

    def close(self) -> int:
        """Wake everyone and abandon what was not written.  Safe to call twice.

        Returns:
            How many messages were abandoned, by this or an earlier call.

        """
        with self._changed:
            if not self._closed:
                self._closed = True
                self.abandoned = self.pending
                self._queue.clear()
                self._batch, self._batch_count = memoryview(b""), 0
                self._changed.notify_all()
            return self.abandoned

    def _wait_for_room(self) -> int:
        """Wait until there is room and say how much; the caller holds the lock."""
        self._waiting += 1
        try:
            while not self._closed and self.pending >= self._capacity:
                self._changed.wait()
        finally:
            self._waiting -= 1
        if self._closed:
            raise GateClosed
        return self._capacity - self.pending


def _nobody() -> None:
    """Nobody writes yet; the writer asks the gate when it starts."""
