"""What a supervisor does next, as values: the decisions of `Supervisor`, without threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from actors.strategies import RestartBudget, Strategy, affected
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Restart: TypeAlias = Literal["permanent", "transient", "temporary"]
"""Start again always, only after a crash, or never."""


class StartChild(NamedTuple):
    """Start the child ``name`` as incarnation ``generation``."""

    name: str
    generation: int


class StopChild(NamedTuple):
    """Ask a child to stop and come back after ``within_s`` seconds if it is not down by then."""

    name: str
    generation: int
    within_s: float


class Retire(NamedTuple):
    """The child will not come back: its address leads nowhere from now on."""

    name: str


class Finish(NamedTuple):
    """All children are down: end, orderly (None) or by failing upward."""

    reason: BaseException | None


Decision: TypeAlias = StartChild | StopChild | Retire | Finish


class GaveUp(Exception):  # noqa: N818 - an event that travels upward
    """A child crashed more often than its supervisor may restart it."""


class _Child:
    """One child and where it stands."""

    __slots__ = ("generation", "restart", "shutdown_s", "significant", "up")

    def __init__(self, restart: Restart, shutdown_s: float, *, significant: bool) -> None:
        self.restart = restart
        self.shutdown_s = shutdown_s
        self.significant = significant
        self.generation = 0
        self.up = False


class SupervisorState:
    """The children in starting order, and the wave of stops that is under way, if any."""

    def __init__(self, strategy: Strategy, budget: RestartBudget) -> None:
        """Start without children."""
        self.strategy: Strategy = strategy
        self.budget = budget
        self.children: dict[str, _Child] = {}
        self._stopping: list[str] = []
        self._again: tuple[str, ...] = ()
        self._ending = False
        self._reason: BaseException | None = None

    def add(
        self, name: str, restart: Restart, shutdown_s: float, *, significant: bool = False
    ) -> list[Decision]:
        """Take on a child and start it; refused in silence while everything is ending."""
        if self._ending:
            return [Retire(name)]
        self.children[name] = _Child(restart, shutdown_s, significant=significant)
        return [self._start(name)]

    def down(
        self, name: str, generation: int, reason: BaseException | None, now_s: float
    ) -> list[Decision]:
        """Take the end of an incarnation at ``now_s``; an older incarnation's is ignored."""
        child = self.children.get(name)
        if child is None or child.generation != generation or not child.up:
            return []
        child.up = False
        expected = name in self._stopping
        if expected:
            self._stopping.remove(name)
        if expected or self._ending:
            return self._stopped(name, child)
        return self._unexpected(name, child, reason, now_s)

    def overdue(self, name: str, generation: int) -> list[Decision]:
        """Give up waiting for a child that was asked to stop: count it as down."""
        child = self.children.get(name)
        if child is None or child.generation != generation or name not in self._stopping:
            return []
        child.up = False
        self._stopping.remove(name)
        return self._stopped(name, child)

    def end(self, reason: BaseException | None = None) -> list[Decision]:
        """Stop all children, last started first; `Finish` follows."""
        if not self._ending:
            self._ending, self._reason, self._again = True, reason, ()
            self._stop_all(self.children)
        return self._go_on()

    def _stopped(self, name: str, child: _Child) -> list[Decision]:
        """Go on with a wave of stops, of which this child was one."""
        if child.restart == "temporary" and not self._ending:
            del self.children[name]
            return [Retire(name), *self._go_on()]
        return self._go_on()

    def _unexpected(
        self, name: str, child: _Child, reason: BaseException | None, now_s: float
    ) -> list[Decision]:
        if reason is None and child.significant:
            return self.end()
        if child.restart == "temporary" or (reason is None and child.restart == "transient"):
            del self.children[name]
            return [Retire(name)]
        if not self.budget.spend(now_s):
            gave_up = GaveUp(f"{name} failed too often, last with: {reason!r}")
            gave_up.__cause__ = reason
            return self.end(gave_up)
        names = set(affected(self.strategy, tuple(self.children), name)) | set(self._again)
        wave = [each for each in self.children if each in names]
        # A temporary child falls with those before it, but does not rise again.
        self._again = tuple(each for each in wave if self.children[each].restart != "temporary")
        self._stop_all(wave)
        return self._go_on()

    def _stop_all(self, names: Iterable[str]) -> None:
        up = [name for name in names if self.children[name].up]
        self._stopping = [name for name in up if name not in self._stopping] + self._stopping
        self._stopping.sort(key=list(self.children).index)

    def _go_on(self) -> list[Decision]:
        """Stop the next one (the last started), or do what comes when all are down."""
        if self._stopping:
            name = self._stopping[-1]
            child = self.children[name]
            return [StopChild(name, child.generation, child.shutdown_s)]
        if self._ending:
            finish = Finish(self._reason)
            if self._reason is not None:
                return [finish]  # whoever starts us again binds the same addresses
            return [*(Retire(name) for name in self.children), finish]
        again, self._again = self._again, ()
        return [self._start(name) for name in again]

    def _start(self, name: str) -> StartChild:
        child = self.children[name]
        child.generation += 1
        child.up = True
        return StartChild(name, child.generation)
