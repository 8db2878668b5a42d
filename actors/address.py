"""A stable name for an actor: what others hold instead of a reference.

The supervisor binds it to each new incarnation.  Between a crash and the restart messages wait
here and are replayed in order, so a crash costs at most the message that caused it.  After an
orderly stop, or when the supervisor gave up, telling is a dead letter and never an exception.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pykka import ActorDeadError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pykka import ActorRef

    from actors.platform import Platform
    from actors.telemetry import Telemetry

M_contra = TypeVar("M_contra", contravariant=True)


class Address(Generic[M_contra]):
    """Where to tell the actor ``name``, whichever incarnation lives."""

    def __init__(self, name: str, platform: Platform, telemetry: Telemetry) -> None:
        """Make an address that holds messages until it is first bound."""
        self.name = name
        self._telemetry = telemetry
        self._lock = platform.condition()
        self._ref: ActorRef[Any] | None = None
        self._held: deque[Any] = deque()
        self._retired = False

    def tell(self, message: M_contra) -> None:
        """Send and forget.  Never waits, never raises."""
        ref = self._ref
        if ref is None:
            self._hold(message)
            return
        try:
            ref.tell(message)
        except ActorDeadError:
            self._hold(message)

    def give_back(self, messages: list[Any]) -> None:
        """Take what an incarnation that has ended did not handle, for the next one.

        It goes before all that is held: who was refused by the ended one was told no earlier.
        """
        with self._lock:
            ref = self._ref
            if not self._retired and (ref is None or not ref.is_alive()):
                self._held.extendleft(reversed(messages))
                return
        # Given up for dead and replaced, it ended after all.
        for message in messages:
            self.tell(message)

    def _hold(self, message: Any) -> None:
        """Keep a message for the next incarnation; a dead letter once there will be none."""
        with self._lock:
            ref = self._ref
            if not self._retired and (ref is None or not ref.is_alive()):
                self._held.append(message)
                return
            retired = self._retired
        if retired:
            self._dead_letters([message])
        else:
            self.tell(message)

    def bind(self, ref: ActorRef[Any]) -> None:
        """Point at a new incarnation and replay what was held, oldest first.

        One that has crashed already leaves the rest, in order, to the one after it.
        """
        with self._lock:
            self._retired = False
            with suppress(ActorDeadError):
                while self._held:
                    ref.tell(self._held[0])
                    self._held.popleft()
            # Last: until now whoever tells waits here, behind what was held.
            self._ref = ref

    def retire(self) -> None:
        """There will be no further incarnation: what is held becomes dead letters."""
        with self._lock:
            held, self._held = self._held, deque()
            self._retired = True
        self._dead_letters(held)

    def _dead_letters(self, messages: Iterable[Any]) -> None:
        for message in messages:
            self._telemetry.event("dead_letter", self.name, message=type(message).__name__)
