"""A scenario: what the client of a world does, and which faults may be drawn for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.simulation.world import World

ACTOR_POINTS = (
    "actor.receive",
    "actor.receive",
    "actor.handled",
    "actor.start",
    "reader.decoded",
    "gate.put",
    "gate.take",
    "wire.read",
    "wire.write",
    "outlet.speak",
    "executor.decide",
    "executor.start",
)
STEP_POINTS = ("step.spawn", "step.read", "step.end", "step.call", "step.return", "model.chunk")
EVERYWHERE = (*ACTOR_POINTS, *STEP_POINTS)
"""Points that a drawn plan hits; the weight of one is how often it stands here."""


class Scenario(NamedTuple):
    """One kind of world.  ``play`` runs in its first task and returns when the client is done."""

    name: str
    about: str
    play: Callable[[World], None]
    most_faults: int = 0
    """That are drawn for a seed; at least half of the seeds have none."""
    points: tuple[str, ...] = EVERYWHERE
    codes: tuple[int, ...] = (0,)
    """Exit codes that are right; 70 is, besides, where the plan crashed a supervisor."""
