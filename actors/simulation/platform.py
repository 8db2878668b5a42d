"""The simulated platform: threads, conditions, both clocks and entropy of one world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.simulation.condition import SimCondition

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from actors.simulation.scheduler import Scheduler
    from actors.simulation.task import SimTask

EPOCH_S = 1_796_033_700.0
"""When every world begins, in epoch seconds: 2026-11-30 at 10:15 UTC."""


class SimPlatform:
    """See `actors.platform.Platform`."""

    def __init__(self, scheduler: Scheduler, numbers: random.Random) -> None:
        """Belong to one world; ``numbers`` is where ids come from."""
        self.scheduler = scheduler
        self._numbers = numbers

    def condition(self) -> SimCondition:
        """Make a condition."""
        return SimCondition(self.scheduler)

    def spawn(self, name: str, target: Callable[[], None]) -> SimTask:
        """Start a task."""
        return self.scheduler.spawn(name, target)

    def monotonic(self) -> float:
        """Read the world's clock."""
        return self.scheduler.now

    def wall(self) -> float:
        """Read it as a date."""
        return EPOCH_S + self.scheduler.now

    def entropy(self, size: int) -> bytes:
        """Return bytes that are the same in each run of a seed."""
        return self._numbers.randbytes(size)

    def sleep(self, seconds: float) -> None:
        """Let ``seconds`` pass for the running task."""
        self.scheduler.wait(max(seconds, 0.0))
