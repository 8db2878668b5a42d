"""Timers: one thread, one heap, ticks by message."""

from __future__ import annotations

import heapq
from contextlib import suppress
from typing import TYPE_CHECKING

from pykka import ActorDeadError

from actors.messages import Tick

if TYPE_CHECKING:
    from actors.mailbox import Mailbox
    from actors.platform import Platform


_SPARSE = 64
"""Dropped timers that may lie in the heap, beyond as many as live, before it is swept."""


class Timers:
    """Tells a `Tick` into a mailbox when its time has come.

    The thread starts with the first timer.  A dropped timer may still be on its way: the actor
    base class drops its tick by generation.
    """

    def __init__(self, platform: Platform) -> None:
        """Make an idle service on the platform's clock."""
        self._platform = platform
        self._changed = platform.condition()
        self._heap: list[tuple[float, int]] = []
        self._live: dict[int, tuple[Mailbox, str]] = {}
        self._last = 0
        self._running = False
        self._closed = False

    def arm(self, mailbox: Mailbox, key: str, delay_s: float) -> int:
        """Tick ``key`` into ``mailbox`` after ``delay_s`` seconds; the result names the timer.

        Where no thread can be had it raises, and nothing was armed: the next try starts one.
        """
        due = self._platform.monotonic() + max(0.0, delay_s)
        with self._changed:
            if not self._running:
                self._platform.spawn("timers", self._run)
                self._running = True
            self._last += 1
            generation = self._last
            self._live[generation] = (mailbox, key)
            heapq.heappush(self._heap, (due, generation))
            if len(self._heap) > _SPARSE + 2 * len(self._live):
                self._heap = [entry for entry in self._heap if entry[1] in self._live]
                heapq.heapify(self._heap)
            self._changed.notify()
        return generation

    def drop(self, generation: int) -> None:
        """Forget a timer; one that is gone already is no error."""
        with self._changed:
            self._live.pop(generation, None)

    def close(self) -> None:
        """End the thread.  No tick is told afterwards."""
        with self._changed:
            self._closed = True
            self._live.clear()
            self._changed.notify()

    def _run(self) -> None:
        while (due := self._next()) is not None:
            generation, mailbox, key = due
            with suppress(ActorDeadError):  # its actor ended meanwhile
                mailbox.put(_Told(Tick(key, generation)))

    def _next(self) -> tuple[int, Mailbox, str] | None:
        """Wait for the next live timer; None when closed."""
        with self._changed:
            while not self._closed:
                wait_s = self._heap[0][0] - self._platform.monotonic() if self._heap else None
                if wait_s is not None and wait_s <= 0:
                    _, generation = heapq.heappop(self._heap)
                    if (live := self._live.pop(generation, None)) is not None:
                        return generation, *live
                else:
                    self._changed.wait(wait_s)
        return None


class _Told:
    """An envelope, as pykka's loop reads it: a message and nobody who waits for a reply."""

    __slots__ = ("message", "reply_to")

    def __init__(self, message: Tick) -> None:
        self.message = message
        self.reply_to = None
