"""Fault points as scheduling points, and the plans that a simulation draws by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.fault_plan import FaultPlan, PlannedFault
from actors.mailbox import BEFORE_GET, BEFORE_PUT

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from actors.faults import Faults, Verdict
    from actors.simulation.scheduler import Scheduler

DELAYS_S = (0.1, 1.0, 2.0, 5.0)
"""Like the durations of the scenarios, so that a delay often ends just when something else does."""
LATEST_HIT = 40
LOCK_FOLLOWS = frozenset({BEFORE_PUT, BEFORE_GET})
"""Points right before a lock is taken, which is a scheduling point already."""
ACTORS = (
    *("*",) * 2,
    *("reader",) * 2,
    *("router",) * 4,
    *("executor*",) * 4,
    *("session ?",) * 2,
    "writer",
    "responder",
    "model call*",
    "session supervisor*",
)
"""Whom a fault of an actor may mean, those with more to lose more often."""


class ScheduledFaults:
    """Lets another task go on at each point, then asks the plan."""

    def __init__(self, scheduler: Scheduler, plan: Faults) -> None:
        """Ask ``plan`` in the world of ``scheduler``."""
        self._scheduler = scheduler
        self._plan = plan

    def at(self, name: str, who: str = "") -> Verdict:
        """See `actors.faults.Faults.at`."""
        if name not in LOCK_FOLLOWS:
            self._scheduler.point()
        return self._plan.at(name, who)

    def lines(self, frames: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        """See `actors.faults.Faults.lines`."""
        return self._plan.lines(frames)


def draw_plan(seed: int, numbers: random.Random, points: Sequence[str], most: int) -> FaultPlan:
    """Draw up to ``most`` crashes and delays at ``points``, and errors at those of files."""
    drawn = [_draw(numbers, numbers.choice(points)) for _ in range(numbers.randint(1, most))]
    return FaultPlan(faults=tuple(drawn), name="drawn", seed=seed)


def _draw(numbers: random.Random, point: str) -> PlannedFault:
    hit = _early(numbers)
    if point.startswith("file."):
        return PlannedFault(
            point=point, fault="error", hit=hit, errno=numbers.choice(("ENOSPC", "EIO"))
        )
    who = numbers.choice(ACTORS) if point.startswith("actor.") else "*"
    if numbers.random() < 0.75:  # noqa: PLR2004 - crashes find more than delays
        return PlannedFault(point=point, who=who, fault="crash", hit=hit)
    return PlannedFault(
        point=point, who=who, fault="delay", hit=hit, seconds=numbers.choice(DELAYS_S)
    )


def _early(numbers: random.Random) -> int:
    """Draw a hit from 1, small ones more often: many points are not hit often."""
    return 1 + int(LATEST_HIT * numbers.random() ** 3)
