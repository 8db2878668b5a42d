"""Fault points as scheduling points, and the plans that a simulation draws by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.fault_plan import FaultPlan, PlannedFault
from actors.mailbox import BEFORE_GET, BEFORE_PUT

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from actors.faults import FaultKind, Faults, Verdict
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


TOLD_TWICE = ("router", "router", "router", "executor ?", "session ?")
"""Whom a message may reach twice; an answer or a model call that is doubled is two by nature."""
TOLD_NEVER = ("router", "executor ?", "session ?", "responder", "model call*")


def executor_crashes(seed: int, numbers: random.Random) -> FaultPlan:
    """Draw crashes of executors at their messages, early or late, and around the steps' starts."""
    points = ("actor.receive", "actor.receive", "actor.handled", "executor.start")
    faults = tuple(
        PlannedFault(
            point=(point := numbers.choice(points)),
            who="*" if point == "executor.start" else "executor ?",
            fault="crash",
            hit=numbers.randint(1, 4 if point == "executor.start" else 14),
        )
        for _ in range(numbers.randint(1, 2))
    )
    return FaultPlan(faults=faults, name="drawn", seed=seed)


def router_crashes(seed: int, numbers: random.Random) -> FaultPlan:
    """Draw crashes of the router at its messages."""
    points = ("actor.receive", "actor.handled")
    faults = tuple(
        PlannedFault(
            point=numbers.choice(points), who="router", fault="crash", hit=numbers.randint(4, 12)
        )
        for _ in range(numbers.randint(2, 3))
    )
    return FaultPlan(faults=faults, name="drawn", seed=seed)


def doubled(seed: int, numbers: random.Random) -> FaultPlan:
    """Draw messages that arrive twice: each request is answered once all the same."""
    faults = _of_mailboxes("duplicate", TOLD_TWICE, numbers)
    return FaultPlan(faults=faults, name="doubled", seed=seed, suspends=("order", "cancel"))


def dropped(seed: int, numbers: random.Random) -> FaultPlan:
    """Draw messages that get lost: what they were for may never come, but no more than that."""
    faults = _of_mailboxes("drop", TOLD_NEVER, numbers)
    suspends = ("answers", "order", "cancel")
    return FaultPlan(faults=faults, name="dropped", seed=seed, suspends=suspends)


def _of_mailboxes(
    fault: FaultKind, whom: Sequence[str], numbers: random.Random
) -> tuple[PlannedFault, ...]:
    return tuple(
        PlannedFault(
            point=BEFORE_PUT,
            who=numbers.choice(whom),
            fault=fault,
            hit=_early(numbers),
            times=times,
        )
        for times in numbers.choices((1, 1, 3), k=numbers.randint(1, 3))
    )


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
