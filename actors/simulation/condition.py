"""A re-entrant condition whose waiting is the scheduler's business."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from actors.simulation.scheduler import Scheduler
    from actors.simulation.task import SimTask


class SimCondition:
    """What `threading.Condition` is on the real platform.

    Taking its lock is a scheduling point, and so is freeing it after somebody was woken: who is
    woken may go on before the one that woke him does anything more.
    """

    __slots__ = ("_depth", "_entrants", "_owner", "_scheduler", "_sleepers", "_woke")

    def __init__(self, scheduler: Scheduler) -> None:
        """Make a free lock that nobody waits at."""
        self._scheduler = scheduler
        self._owner: SimTask | None = None
        self._depth = 0
        self._entrants: list[SimTask] = []
        self._sleepers: list[SimTask] = []
        self._woke = False

    def __enter__(self) -> bool:
        """Take the lock."""
        scheduler = self._scheduler
        if self._owner is scheduler.current:
            self._depth += 1
            return True
        scheduler.point()
        self._take(1)
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Free the lock."""
        if self._owner is not self._scheduler.current:
            return  # a world that is being unwound: it was given up in `wait`
        self._depth -= 1
        if not self._depth:
            self._free()
            if self._woke and kind is None:
                self._woke = False
                self._scheduler.point()

    def wait(self, timeout: float | None = None) -> bool:
        """Free the lock, sleep until notified or for ``timeout`` seconds, take it again."""
        me, depth = self._scheduler.current, self._depth
        assert self._owner is me  # noqa: S101 - as threading.Condition has it
        self._sleepers.append(me)
        self._free()
        try:
            woken = self._scheduler.wait(timeout)
        finally:
            if me in self._sleepers:  # its time was up, nobody notified it
                self._sleepers.remove(me)
        self._take(depth)
        return woken

    def notify(self, n: int = 1) -> None:
        """Wake ``n`` sleepers, those that sleep longest."""
        woken, self._sleepers = self._sleepers[:n], self._sleepers[n:]
        for sleeper in woken:
            self._woke = True
            self._scheduler.wake(sleeper)

    def notify_all(self) -> None:
        """Wake every sleeper."""
        if self._sleepers:
            self.notify(len(self._sleepers))

    def _take(self, depth: int) -> None:
        scheduler = self._scheduler
        while self._owner is not None:
            self._entrants.append(scheduler.current)
            scheduler.wait()
        self._owner, self._depth = scheduler.current, depth

    def _free(self) -> None:
        self._owner, self._depth = None, 0
        if self._entrants:
            entrants, self._entrants = self._entrants, []
            for entrant in entrants:
                self._scheduler.wake(entrant)
