"""Who goes on at a scheduling point: at random, or by priorities that change a few times (PCT)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import random

    from actors.simulation.task import SimTask

PolicyName: TypeAlias = Literal["random", "pct"]

STAYS = (0.0, 0.4, 0.8, 0.95)
"""How likely the running task goes on; each seed has one of these."""
MOST_CHANGES = 6
"""Priority changes of a schedule under PCT: a bug of depth d needs d - 1 of them."""
SCHEDULE_POINTS = 2_000
"""About how many points a schedule has, over which the changes are spread."""
PATIENCE = 400
"""Points in a row after which one that keeps going has to let others pass: it may be polling."""


class Policy(Protocol):
    """Picks the next task."""

    def born(self, task: SimTask) -> None:
        """Hear of a new task."""
        ...

    def choose(self, ready: list[SimTask], running: SimTask | None) -> SimTask:
        """Return one of ``ready`` (never empty); ``running`` is among them or None."""
        ...


class RandomPolicy:
    """Each ready task is as likely as any other, but for the one that runs."""

    def __init__(self, numbers: random.Random) -> None:
        """Draw how much the running task is favoured."""
        self._random = numbers.random
        self._stay = numbers.choice(STAYS)

    def born(self, task: SimTask) -> None:
        """Do nothing."""

    def choose(self, ready: list[SimTask], running: SimTask | None) -> SimTask:
        """See `Policy.choose`."""
        if running is not None and self._stay and self._random() < self._stay:
            return running
        return ready[int(self._random() * len(ready))]


class PctPolicy:
    """The ready task of the highest priority; at a few random points the running one falls last.

    Finds what needs a few preemptions at the right places and long runs between them (Burckhardt
    et al., "A randomized scheduler with probabilistic guarantees of finding bugs").
    """

    def __init__(self, numbers: random.Random) -> None:
        """Draw the points at which priorities change."""
        self._random = numbers.random
        changes = numbers.randint(0, MOST_CHANGES)
        self._changes = {int(numbers.random() * SCHEDULE_POINTS) for _ in range(changes)}
        self._points = 0
        self._lowest = 0.0
        self._in_a_row = 0
        self._last: SimTask | None = None

    def born(self, task: SimTask) -> None:
        """Give it a priority between 0 and 1."""
        task.priority = self._random()

    def choose(self, ready: list[SimTask], running: SimTask | None) -> SimTask:
        """See `Policy.choose`."""
        self._points += 1
        if running is not None and (self._points in self._changes or self._in_a_row > PATIENCE):
            self._lowest -= 1
            running.priority = self._lowest
        chosen = ready[0]
        for task in ready:
            if task.priority > chosen.priority:
                chosen = task
        self._in_a_row = self._in_a_row + 1 if chosen is self._last else 0
        self._last = chosen
        return chosen


def make_policy(name: PolicyName | None, numbers: random.Random) -> Policy:
    """Make the policy that is asked for, or the one that the seed prefers."""
    drawn: PolicyName = "pct" if numbers.random() < 0.5 else "random"  # noqa: PLR2004
    return PctPolicy(numbers) if (name or drawn) == "pct" else RandomPolicy(numbers)
