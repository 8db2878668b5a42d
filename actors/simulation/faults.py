"""Fault points as scheduling points, and the plans that a simulation draws by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.fault_plan import FaultPlan, PlannedFault

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from actors.faults import Faults, Verdict
    from actors.simulation.scheduler import Scheduler

DELAYS_S = (0.1, 1.0, 2.0, 5.0)
"""Like the durations of the scenarios, so that a delay often ends just when something else does."""
LATEST_HIT = 40


class ScheduledFaults:
    """Lets another task go on at each point, then asks the plan."""

    def __init__(self, scheduler: Scheduler, plan: Faults) -> None:
        """Ask ``plan`` in the world of ``scheduler``."""
        self._scheduler = scheduler
        self._plan = plan

    def at(self, name: str, who: str = "") -> Verdict:
        """See `actors.faults.Faults.at`."""
        self._scheduler.point()
        return self._plan.at(name, who)

    def lines(self, frames: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        """See `actors.faults.Faults.lines`."""
        return self._plan.lines(frames)


def draw_plan(seed: int, numbers: random.Random, points: Sequence[str], most: int) -> FaultPlan:
    """Draw up to ``most`` crashes and delays at ``points``, and errors at those of files."""
    faults: list[PlannedFault] = []
    for _ in range(numbers.randint(0, most)):
        point, hit = numbers.choice(points), _early(numbers)
        if point.startswith("file."):
            errno = numbers.choice(("ENOSPC", "EIO"))
            faults.append(PlannedFault(point=point, fault="error", hit=hit, errno=errno))
        elif numbers.random() < 0.7:  # noqa: PLR2004 - crashes find more than delays
            faults.append(PlannedFault(point=point, fault="crash", hit=hit))
        else:
            seconds = numbers.choice(DELAYS_S)
            faults.append(PlannedFault(point=point, fault="delay", hit=hit, seconds=seconds))
    return FaultPlan(faults=tuple(faults), name="drawn", seed=seed)


def _early(numbers: random.Random) -> int:
    """Draw a hit from 1, small ones more often: many points are not hit often."""
    return 1 + int(LATEST_HIT * numbers.random() ** 2)
