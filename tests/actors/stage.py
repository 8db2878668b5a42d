"""What tests of actors share: a system of fakes, and actors that do what they are told."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from actors.address import Address
from actors.base import Actor, System, start
from actors.clock import Timers
from actors.faults import NoFaults
from tests.fakes import FakePlatform, Telemetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from pykka import ActorRef

    from actors.faults import Faults

WAIT_S = 20.0


class Stage:
    """Fakes for the world around actors, and the ends of those that were started here."""

    def __init__(self, faults: Faults | None = None) -> None:
        self.platform = FakePlatform()
        self.telemetry = Telemetry()
        self.timers = Timers(self.platform)
        self.system = System(self.platform, self.telemetry, faults or NoFaults(), self.timers)
        self.ends: queue.Queue[BaseException | None] = queue.Queue()
        self._refs: list[ActorRef[Any]] = []

    def address(self, name: str) -> Address[Any]:
        return Address(name, self.platform, self.telemetry)

    def start(self, make: Callable[[], Actor[Any]]) -> ActorRef[Any]:
        """Start an actor; its end arrives in ``ends``."""
        ref = start(make, self.ends.put)
        self._refs.append(ref)
        return ref

    def end(self) -> BaseException | None:
        """Wait for the next end."""
        return self.ends.get(timeout=WAIT_S)

    def forget(self, ref: ActorRef[Any]) -> None:
        """It has ended: nothing to stop."""
        self._refs.remove(ref)

    def close(self) -> None:
        for ref in reversed(self._refs):
            ref.stop(block=True, timeout=WAIT_S)
        self.timers.close()


class Do(NamedTuple):
    """Have a `Player` call this on its own thread."""

    action: Callable[[Player], Any]


class DoNow(NamedTuple):
    """The same, past everything that waits."""

    action: Callable[[Player], Any]

    @property
    def urgent(self) -> bool:
        return True


class Player(Actor[Any]):
    """Does what messages say and writes down what is no order."""

    def __init__(
        self,
        system: System,
        address: Address[Any],
        log: list[Any] | None = None,
        at_start: Callable[[Player], Any] | None = None,
        at_stop: Callable[[Player], Any] | None = None,
    ) -> None:
        super().__init__(system, address)
        self.log: list[Any] = [] if log is None else log
        self._at_start = at_start
        self._at_stop = at_stop

    def started(self) -> None:
        if self._at_start is not None:
            self._at_start(self)

    def stopped(self) -> None:
        if self._at_stop is not None:
            self._at_stop(self)

    def receive(self, message: Any) -> Any:
        if isinstance(message, Do | DoNow):
            return message.action(self)
        self.log.append(message)
        return message


class Latch:
    """Holds an actor in a handler until it is let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()

    def __call__(self, _: Any = None) -> None:
        self.reached.set()
        self._wait(self._open)

    def wait_reached(self) -> None:
        self._wait(self.reached)

    def release(self) -> None:
        self._open.set()

    def _wait(self, event: threading.Event) -> None:
        if not event.wait(WAIT_S):
            message = "nobody came"
            raise TimeoutError(message)


def boom(_: Any = None) -> None:
    message = "boom"
    raise ValueError(message)


def flush(ref: ActorRef[Any]) -> None:
    """Wait until everything that was told before has been handled."""
    ref.ask(Do(lambda _: None), timeout=WAIT_S)
