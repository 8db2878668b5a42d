"""The gate: at most 64 messages between the producers and the client.

Pending is what is queued plus what is being written, and is never more than the capacity.  Slots
are freed only when the bytes have left.  Full: the producer waits, nothing is dropped.  Batch and
byte offset live here, so a writer that is started again goes on in the middle of a line.

A producer that waits leaves its messages at the door, and whoever frees slots lets them in, first
come, first served: it sleeps once for all of them instead of once for each 64.
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


class _Delivery:
    """Messages of one producer that are not let in yet.  No dataclass: start-up waits for it."""

    __slots__ = ("_at", "_frames", "left")

    def __init__(self, frames: Sequence[bytes]) -> None:
        self._frames, self._at = frames, 0
        self.left = len(frames)

    def take(self, room: int) -> Sequence[bytes]:
        """Let in the next ones, ``room`` at the most."""
        some = self._frames[self._at : self._at + room]
        self._at += len(some)
        self.left -= len(some)
        return some


class Gate:
    """A first-in, first-out queue that makes producers wait and can be closed under them."""

    def __init__(self, platform: Platform, faults: Faults, capacity: int = CAPACITY) -> None:
        """Make an open gate for ``capacity`` messages."""
        self._changed = platform.condition()
        self._faults = faults
        self._capacity = capacity
        self._queue: deque[bytes] = deque()
        self._door: deque[_Delivery] = deque()
        self._batch = memoryview(b"")
        self._batch_count = 0
        self._closed = False
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
        return len(self._door)

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
            if group:
                self._put(group)

    def _put(self, frames: Sequence[bytes]) -> None:
        delivery = _Delivery(frames)
        with self._changed:
            if self._closed:
                raise GateClosed
            was_idle = not self.pending
            self._door.append(delivery)
            self._admit()
        if was_idle:
            self._wake()
        if delivery.left:
            self._wait_for_admission(delivery)

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
                self._admit()

    def wait_empty(self, timeout_s: float, platform: Platform) -> bool:
        """Wait until nothing is pending, at most ``timeout_s`` seconds; False if it took longer."""
        until = platform.monotonic() + timeout_s
        with self._changed:
            while self.pending:
                if (left_s := until - platform.monotonic()) <= 0:
                    return False
                self._changed.wait(left_s)
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
                self._door.clear()
                self._batch, self._batch_count = memoryview(b""), 0
                self._changed.notify_all()
            return self.abandoned

    def _admit(self) -> None:
        """Let in who waits at the door, as far as there is room; the caller holds the lock."""
        room = self._capacity - self.pending
        somebody_is_done = False
        while self._door and room > 0:
            some = self._door[0].take(room)
            self._queue.extend(some)
            room -= len(some)
            if not self._door[0].left:
                self._door.popleft()
                somebody_is_done = True
        pending = self.pending
        self.peak = max(self.peak, pending)
        if somebody_is_done or not pending:
            self._changed.notify_all()

    def _wait_for_admission(self, delivery: _Delivery) -> None:
        with self._changed:
            try:
                while delivery.left and not self._closed:
                    self._changed.wait()
            finally:
                if delivery in self._door:
                    self._door.remove(delivery)
        if delivery.left:
            raise GateClosed


def _nobody() -> None:
    """Nobody writes yet; the writer asks the gate when it starts."""
