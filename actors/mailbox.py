"""An actor's mailbox: two lanes, one wake-up, and a close that loses nothing.

pykka checks that an actor lives and then puts, in two steps; what arrives between its last look
and its end is never answered (11 of 4,000 stop races).  Here put and close take the same lock, so
a message is handled, or handed to ``left_over``, or refused to its sender: exactly one of these.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from pykka import ActorDeadError

from actors.faults import NoFaults, point
from actors.messages import Down, Stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from pykka import Future

    from actors.faults import Faults
    from actors.platform import Platform

BEFORE_PUT = point(
    "mailbox.put",
    "a message is about to be put into an actor's mailbox",
    ("drop", "duplicate", "delay", "stall", "exit"),
)
BEFORE_GET = point(
    "mailbox.get", "an actor is about to wait for its next message", ("delay", "stall", "exit")
)
_ALWAYS_ONCE = frozenset({Stop, Down})
"""What supervisors live by is neither lost nor doubled: no system could go on without it."""

HIGH_WATER = 1_000
"""Messages waiting at which one warning is given; the bound of the system is the gate."""


class Mailbox:
    """Control lane before data lane; first in, first out within each."""

    def __init__(
        self,
        platform: Platform,
        left_over: Callable[[list[Any]], None],
        high_water: Callable[[int], None],
        *,
        name: str = "",
        faults: Faults | None = None,
    ) -> None:
        """Make an open mailbox.

        Args:
            platform: Where its condition comes from.
            left_over: Gets the told messages that wait when it closes, oldest first within each
                lane; must not wait.
            high_water: Called once, when `HIGH_WATER` messages wait.
            name: Its actor's, for fault plans.
            faults: Consulted before each put and get.

        """
        self._changed = platform.condition()
        self._control: deque[Any] = deque()
        self._data: deque[Any] = deque()
        self._closed = False
        self._warned = False
        self._reader: int | None = None
        self._left_over = left_over
        self._high_water = high_water
        self._name = name
        self._faults: Faults = faults or NoFaults()
        self.interrupt: Callable[[], None] | None = None
        """Called when a control message arrives: ends a wait outside the mailbox (poll)."""

    def put(self, envelope: Any) -> None:
        """Queue an envelope, as `accept` does, unless a fault plan has other ideas."""
        verdict = self._faults.at(BEFORE_PUT, self._name)
        if verdict != "pass" and envelope.reply_to is None:
            if type(envelope.message) in _ALWAYS_ONCE:
                pass
            elif verdict == "drop":
                return
            else:
                self.accept(envelope)
        self.accept(envelope)

    def accept(self, envelope: Any) -> None:
        """Queue an envelope.  Never waits.

        What can't be answered fails in the asker's future at once: after `close`, and where the
        actor asks itself, for it would wait for itself.

        Raises:
            ActorDeadError: A told message after `close`.

        """
        if envelope.reply_to is not None and self._reader == threading.get_ident():
            _fail(envelope.reply_to, RuntimeError("an actor can't ask itself"))
            return
        urgent = getattr(envelope.message, "urgent", False)
        with self._changed:
            if self._closed:
                waiting = -1
            else:
                (self._control if urgent else self._data).append(envelope)
                waiting = len(self._data)
                self._changed.notify()
        if waiting < 0:
            error = ActorDeadError("stopped before handling the message")
            if envelope.reply_to is None:
                raise error
            _fail(envelope.reply_to, error)
            return
        if urgent and (interrupt := self.interrupt) is not None:
            interrupt()
        if waiting >= HIGH_WATER and not self._warned:
            self._warned = True
            self._high_water(waiting)

    def owned(self) -> None:
        """Note that the calling thread is the one that takes from here."""
        self._reader = threading.get_ident()

    def get(self) -> Any:
        """Take the next envelope, control lane first; waits for one."""
        self._faults.at(BEFORE_GET, self._name)
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
        told = [envelope.message for envelope in left if envelope.reply_to is None]
        self._left_over(told)
        for envelope in left:
            if envelope.reply_to is not None:
                _fail(envelope.reply_to, ActorDeadError("stopped before handling the message"))


def _fail(reply_to: Future[Any], error: Exception) -> None:
    reply_to.set_exception((type(error), error, None))
