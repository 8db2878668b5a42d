"""The supervisor: starts children in order, hears of their ends, restarts or gives up.

Decisions are `SupervisorState`'s; this actor performs them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from pykka import ActorDeadError

from actors.base import Actor, start
from actors.cancel import CancelSignal
from actors.messages import Down, Stop, Tick
from actors.strategies import RestartBudget
from actors.supervision import (
    Decision,
    Finish,
    Restart,
    Retire,
    StartChild,
    StopChild,
    SupervisorState,
)
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from pykka import ActorRef

    from actors.address import Address
    from actors.base import System
    from actors.strategies import Strategy


class ChildSpec(NamedTuple):
    """How to make a child, and what its end means."""

    address: Address[Any]
    make: Callable[[], Actor[Any]]
    restart: Restart = "permanent"
    shutdown_s: float = 5.0
    significant: bool = False


class _Life(NamedTuple):
    """A started child: its reference, and a signal that is set when it has ended."""

    ref: ActorRef[Any]
    over: CancelSignal


class AddChild(NamedTuple):
    """Start one more child."""

    spec: ChildSpec


SupervisorMessage: TypeAlias = AddChild | Down | Tick


class Supervisor(Actor[SupervisorMessage]):
    """Owns its children: their references exist nowhere else."""

    def __init__(
        self,
        system: System,
        address: Address[SupervisorMessage],
        specs: tuple[ChildSpec, ...],
        strategy: Strategy,
        restarts: tuple[int, float],
    ) -> None:
        """Make a supervisor that allows ``restarts`` = (how many, within seconds)."""
        super().__init__(system, address)
        self._specs = {spec.address.name: spec for spec in specs}
        self._state = SupervisorState(strategy, RestartBudget(*restarts))
        self._lives: dict[str, _Life] = {}

    def started(self) -> None:
        """Start the children in order."""
        for spec in self._specs.values():
            self._add(spec)

    def receive(self, message: SupervisorMessage) -> None:
        """Take a new child, an end, or the end of patience with a child that should stop."""
        match message:
            case AddChild(spec):
                self._specs[spec.address.name] = spec
                self._add(spec)
            case Down(name, generation, reason):
                now_s = self.system.platform.monotonic()
                self._perform(self._state.down(name, generation, reason, now_s))
            case Tick(key):
                child, _, incarnation = key.rpartition("#")
                if decisions := self._state.overdue(child, int(incarnation)):
                    self._lives.pop(child, None)  # nobody waits for it any more
                    self._perform(decisions)

    def stop_asked(self) -> None:
        """End the children first, last started first."""
        self._perform(self._state.end())

    def ended(self, reason: BaseException | None) -> None:
        """After a crash of our own: nobody is left to watch the children, so they end too.

        Whoever hears of our end may start us again, so we wait until no child of ours is left that
        could get in the way of its successor.  The addresses hold what is told meanwhile.
        """
        del reason
        for name, life in reversed(self._lives.items()):
            _tell(life.ref, Stop())
            life.over.wait(self._specs[name].shutdown_s)

    def _add(self, spec: ChildSpec) -> None:
        self._perform(
            self._state.add(
                spec.address.name, spec.restart, spec.shutdown_s, significant=spec.significant
            )
        )

    def _perform(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            match decision:
                case StartChild(name, generation):
                    self._start(name, generation)
                case StopChild(name, generation, within_s):
                    self.arm_timer(f"{name}#{generation}", within_s)
                    if (life := self._lives.get(name)) is not None:
                        _tell(life.ref, Stop())
                case Retire(name):
                    self._lives.pop(name, None)
                    self._specs.pop(name).address.retire()
                case Finish(reason):
                    self._finish(reason)

    def _start(self, name: str, generation: int) -> None:
        spec = self._specs[name]
        me = self.actor_ref
        over = CancelSignal(self.system.platform)

        def monitor(reason: BaseException | None) -> None:
            over.set()
            # By reference: an address would hold it for an incarnation that knows other children.
            _tell(me, Down(name, generation, reason))

        self._lives.pop(name, None)
        try:
            ref = start(spec.make, monitor)
        except BaseException as error:  # noqa: BLE001 - a child that can't be made has crashed
            monitor(error)
            return
        self._lives[name] = _Life(ref, over)
        spec.address.bind(ref)
        if generation > 1:
            self.system.telemetry.event("restarted", name, generation=generation)

    def _finish(self, reason: BaseException | None) -> None:
        if reason is None:
            self._stop()
        else:
            self.system.telemetry.event("gave_up", self.address.name, reason=reason)
            raise reason


def _tell(ref: ActorRef[Any], message: Stop | Down) -> None:
    with suppress(ActorDeadError):  # it ended by itself meanwhile, which is what we want or moot
        ref.tell(message)
