"""The outlet of one turn: everything the turn says leaves here, in order, its answer last.

The executor says items and never waits.  Steps offer items and wait for room.  One speaker thread
carries them to the gate; it is the only thread of the turn that waits there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.faults import point
from actors.gate import GateClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.faults import Faults
    from actors.platform import Platform

ROOM = 4
"""Items of steps that may wait here; with the gate's 64 it bounds what a slow client costs.  One
may be a whole read of a program's output, 64 KiB."""

BEFORE_OFFER = point("outlet.offer", "a step is about to hand output to its turn, maybe to wait")
BEFORE_SPEAK = point("outlet.speak", "a turn's speaker is about to carry items to the gate")


class Outlet:
    """Ordered items of one turn."""

    def __init__(
        self,
        platform: Platform,
        faults: Faults,
        deliver: Callable[[list[Any]], None],
        over: Callable[[BaseException | None], None],
        broken: Callable[[], None] | None = None,
    ) -> None:
        """Make an outlet that has said nothing.

        Args:
            platform: Threads and conditions.
            faults: Consulted before each delivery.
            deliver: Takes items to the client; may wait; raises `GateClosed` when there is none.
            over: Called once, after `finish`, when the last word has left or can't leave any more;
                gets what went wrong on the way out, if anything.  Must not wait.
            broken: Called when something went wrong before ``finish``: the turn goes on, but the
                client hears nothing of it any more.  Must not wait.

        """
        self._platform = platform
        self._faults = faults
        self._deliver = deliver
        self._over = over
        self._broken = broken
        self._changed = platform.condition()
        self._items: list[Any] = []
        self._offered = 0
        self._last_word: Callable[[], None] | None = None
        self._speaking = False
        self._closed = False
        self._problem: BaseException | None = None

    def say(self, items: Iterable[Any]) -> None:
        """Append items without waiting; after `finish` they are dropped."""
        with self._changed:
            if self._last_word is not None or self._closed:
                return
            self._wake()
            self._items.extend(items)

    def open_source(self) -> StepSource:
        """Make a way in for one step's output."""
        return StepSource(self, self._faults)

    def finish(self, last_word: Callable[[], None]) -> None:
        """Say nothing more after what is here; ``last_word`` is called on the speaker thread.

        Where nobody listens any more, ``over`` is called right here instead.
        """
        with self._changed:
            if self._last_word is not None:
                return
            if not self._closed:
                self._wake()
            self._last_word = last_word
            if not self._closed:
                return
        self._over(self._problem)

    def _wake(self) -> None:
        """Have the speaker look; the caller holds the lock, and adds what it says after this.

        Where no thread can be had it raises, and nothing has been added: who tries again adds once.
        """
        self._changed.notify_all()
        if not self._speaking:
            self._platform.spawn("speaker", self._speak)
            self._speaking = True

    def _speak(self) -> None:
        try:
            while (items := self._take()) is not None:
                self._faults.at(BEFORE_SPEAK)
                self._deliver(items)
            assert self._last_word is not None  # noqa: S101 - that is what ended the loop
            self._last_word()
            self._last_word = _said  # the word knows the turn, which knows us: a circle
        except GateClosed:
            pass  # nobody listens any more, but the turn goes on to its own end
        except BaseException as error:  # noqa: BLE001 - the turn must be answered whatever happens
            self._problem = error
        if self._close():
            self._over(self._problem)
        elif self._problem is not None and self._broken is not None:
            self._broken()

    def _take(self) -> list[Any] | None:
        with self._changed:
            while not self._items:
                if self._last_word is not None:
                    return None
                self._changed.wait()
            items, self._items, self._offered = self._items, [], 0
            self._changed.notify_all()
            return items

    def _close(self) -> bool:
        """Take nothing more; True when the turn had nothing more to say anyway."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()
            return self._last_word is not None

    def take_in(self, items: list[Any], source: StepSource) -> None:
        """Append a source's items, waiting for room; see `StepSource.offer`."""
        with self._changed:
            while self._offered >= ROOM and not self._closed and not source.ended:
                self._changed.wait()
            if self._closed or self._last_word is not None:
                return
            self._wake()
            self._items.extend(items)
            self._offered += len(items)

    def release(self, source: StepSource) -> None:
        """End a source's waiting; see `StepSource.end`."""
        with self._changed:
            source.ended = True
            self._changed.notify_all()


class StepSource:
    """One step's output on its way into the outlet."""

    def __init__(self, outlet: Outlet, faults: Faults) -> None:
        """Belong to ``outlet``."""
        self._outlet = outlet
        self._faults = faults
        self.ended = False

    def offer(self, items: Iterable[Any]) -> None:
        """Hand over items, waiting for room until `end` is called or nobody listens any more."""
        if batch := list(items):
            self._faults.at(BEFORE_OFFER)
            self._outlet.take_in(batch, self)

    def end(self) -> None:
        """Release a waiting `offer`, and let what is left pass without waiting.  Never waits."""
        self._outlet.release(self)


def _said() -> None:
    """Stand for a last word that has been given."""
