"""The base of every actor: pykka's thread and loop, our mailbox, one end.

Business messages come by ``tell`` only.  ``receive`` is one closed ``match``; whatever it raises,
SystemExit included, ends this actor alone, and those who monitor it hear of it exactly once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pykka

from actors.faults import point
from actors.mailbox import Mailbox
from actors.messages import Down, Stop, Tick
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.address import Address
    from actors.clock import Timers
    from actors.faults import Faults
    from actors.platform import Platform, Task
    from actors.telemetry import Telemetry

M = TypeVar("M")

AT_START = point("actor.start", "an actor is about to run its start-up code")
AT_STOP = point("actor.stop", "an actor is about to clean up after an orderly stop")
BEFORE_MESSAGE = point("actor.receive", "an actor is about to handle a message")
_ONE_LIFE = frozenset({Stop, Tick, Down})
"""Messages for one incarnation only: a held Stop would end the next one."""

AFTER_MESSAGE = point("actor.handled", "an actor has handled a message")


class ActorCrashed(Exception):  # noqa: N818 - it is an event, as in "process crashed"
    """Stands for a SystemExit or KeyboardInterrupt inside an actor.

    pykka would stop every actor of the process for those, and never answer who asked.
    """


class System(NamedTuple):
    """What all actors of one process share."""

    platform: Platform
    telemetry: Telemetry
    faults: Faults
    timers: Timers


class Actor(pykka.ThreadingActor, Generic[M]):
    """An actor with one role.  Subclasses write ``receive`` and, if need be, the hooks."""

    use_daemon_thread = True

    def __init__(self, system: System, address: Address[M]) -> None:
        """Make an actor that answers to ``address`` once its supervisor binds it."""
        self.system = system
        self.address = address
        self._error: BaseException | None = None
        self._orderly = False
        self._armed: dict[str, int] = {}
        self._kept: list[M] = []
        self._monitor: Callable[[BaseException | None], None] | None = None
        self._task: Task | None = None
        super().__init__()

    # --- pykka's override points

    def _create_actor_inbox(self) -> Mailbox:  # type: ignore[override]  # pykka calls it on the instance
        return Mailbox(
            self.system.platform,
            self._left_over,
            self._high_water,
            name=self.address.name,
            faults=self.system.faults,
        )

    def _start_actor_loop(self) -> None:
        self._task = self.system.platform.spawn(self.address.name, self._actor_loop)

    def _actor_loop(self) -> None:
        self.mailbox.owned()
        try:
            self._actor_loop_setup()
            self._actor_loop_running()
        finally:
            self._actor_loop_teardown()

    def _actor_loop_teardown(self) -> None:
        """Close the mailbox and tell the monitor: the one place where an actor ends."""
        reason = None if self._orderly else self._error or ActorCrashed("ended for no known reason")
        try:
            self.mailbox.close()
            for key in tuple(self._armed):
                self.drop_timer(key)
            self.system.telemetry.event(
                "stopped" if reason is None else "crashed", self.address.name, reason=reason
            )
            self.ended(reason)
        finally:
            if self._monitor is not None:
                self._monitor(reason)

    def on_start(self) -> None:
        """Run the start-up hook under the same guard as messages."""
        try:
            self.system.faults.at(AT_START, self.address.name)
            self.started()
        except BaseException as error:
            raise self._crashed(error) from error
        self.system.telemetry.event("started", self.address.name)

    def on_stop(self) -> None:
        """Run the hook, then remember that the end was asked for."""
        try:
            self.system.faults.at(AT_STOP, self.address.name)
            self.stopped()
        except BaseException as error:
            raise self._crashed(error) from error
        self._orderly = True

    def on_receive(self, message: Any) -> Any:
        """Guard ``receive``: every exception becomes this actor's own crash."""
        if type(message) is Tick and not self._due(message):
            return None
        try:
            if type(message) is Stop:
                self.stop_asked()
                return None
            self.system.faults.at(BEFORE_MESSAGE, self.address.name)
            answer = self.receive(message)
            self.system.faults.at(AFTER_MESSAGE, self.address.name)
        except BaseException as error:
            crash = self._crashed(error)
            self.last_words(message)
            raise crash from error
        else:
            return answer

    # --- what a subclass may write

    def receive(self, message: Any) -> Any:
        """Handle one message: a ``match`` over the actor's closed union."""
        unexpected = f"{self.address.name} can't handle {message!r:.200}"
        raise TypeError(unexpected)

    def started(self) -> None:
        """Set up, on the actor's own thread; also recover what an earlier incarnation left."""

    def stopped(self) -> None:
        """Clean up after an orderly stop."""

    def stop_asked(self) -> None:
        """End now; an actor that owns others ends them first and calls this afterwards."""
        self._stop()

    def ended(self, reason: BaseException | None) -> None:
        """Let go of what outlives the thread; called last, also after a crash.  Must not raise."""

    def last_words(self, message: Any) -> None:
        """Do what is owed for the message that crashed this actor.  Must not raise."""

    # --- what a subclass may use

    @property
    def mailbox(self) -> Mailbox:
        """The actor's own mailbox."""
        inbox = self.actor_inbox
        assert isinstance(inbox, Mailbox)  # noqa: S101 - made above
        return inbox

    def watch(self, monitor: Callable[[BaseException | None], None]) -> None:
        """Have ``monitor`` called once when the mailbox has closed.  Before the start only."""
        self._monitor = monitor

    def keep(self, message: M) -> None:
        """Leave a message that crashed us to the next incarnation, before all that waits."""
        self._kept.append(message)

    def arm_timer(self, key: str, delay_s: float) -> None:
        """Get a `Tick` for ``key`` after ``delay_s`` seconds; replaces an earlier one."""
        self.drop_timer(key)
        self._armed[key] = self.system.timers.arm(self.mailbox, key, delay_s)

    def drop_timer(self, key: str) -> None:
        """Forget a timer; its tick will not be seen, even if it is on its way."""
        generation = self._armed.pop(key, None)
        if generation is not None:
            self.system.timers.drop(generation)

    # --- inside

    def _due(self, tick: Tick) -> bool:
        if self._armed.get(tick.key) != tick.generation:
            return False
        del self._armed[tick.key]
        return True

    def _crashed(self, error: BaseException) -> Exception:
        """Make this the end, also where an asker gets the error and pykka would go on."""
        crash = error if isinstance(error, Exception) else ActorCrashed(repr(error))
        self._error = crash
        pykka.ActorRegistry.unregister(self.actor_ref)
        self.actor_stopped.set()
        return crash

    def _left_over(self, messages: list[Any]) -> None:
        left = [each for each in messages if type(each) not in _ONE_LIFE]
        kept, self._kept = self._kept, []
        self.address.give_back([*kept, *left])

    def _high_water(self, waiting: int) -> None:
        self.system.telemetry.event("mailbox_high", self.address.name, waiting=waiting)


def start(
    actor_class: Callable[[], Actor[M]], monitor: Callable[[BaseException | None], None]
) -> pykka.ActorRef[Any]:
    """Make an actor, watch it and start its loop; pykka's own ``start`` leaves no room to watch."""
    actor = actor_class()
    actor.watch(monitor)
    pykka.ActorRegistry.register(actor.actor_ref)
    try:
        actor._start_actor_loop()  # noqa: SLF001 - the seam that pykka documents for new runtimes  # pyright: ignore[reportPrivateUsage]
    except BaseException:  # no more threads
        pykka.ActorRegistry.unregister(actor.actor_ref)
        raise
    return actor.actor_ref
