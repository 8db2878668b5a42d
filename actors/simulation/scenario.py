"""A scenario: what the client of a world does, and which faults may be drawn for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from actors.fault_plan import FaultPlan
    from actors.simulation.world import World

IN_ACTORS = ("actor.receive", "actor.handled", "executor.started")
EVERYWHERE = (
    *("actor.receive",) * 5,
    *("actor.handled",) * 4,
    "actor.start",
    "reader.decoded",
    "gate.put",
    "gate.take",
    "wire.read",
    "wire.write",
    "outlet.speak",
    "executor.decide",
    "executor.start",
    "executor.started",
    "step.spawn",
    "step.read",
    "step.end",
    "step.call",
    "step.return",
    "model.chunk",
)
"""Points that a drawn plan hits; the weight of one is how often it stands here."""


class Scenario(NamedTuple):
    """One kind of world.  ``play`` runs in its first task and returns when the client is done."""

    name: str
    about: str
    play: Callable[[World], None]
    most_faults: int = 0
    """That are drawn for a seed."""
    points: tuple[str, ...] = EVERYWHERE
    calm: float = 0.5
    """Share of the seeds that have no faults."""
    codes: tuple[int, ...] = (0,)
    """Exit codes that are right; 70 is, besides, where the plan crashed a supervisor."""
    draw: Callable[[int, random.Random], FaultPlan] | None = None
    """Draws the plan of a seed that has one, instead of ``most_faults`` at ``points``."""
