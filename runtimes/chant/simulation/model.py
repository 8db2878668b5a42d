"""A simulated provider of models that decides questions: it answers, mumbles, fails or stalls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ops.points import ModelDecider, Point, Points, Question
from runtimes.models.base import CallFailed, Finished, TextDelta

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from runtimes.models.base import Cancel, ModelEvent, ModelRequest

POINT = "ship-it"
STEWARD = "robot"
CAPABILITY = "inference"
POINTS = Points(
    {
        POINT: Point(
            POINT, Question("yesno"), capability=CAPABILITY, deciders=(ModelDecider("sim", "m"),)
        )
    }
)
MOODS = ("sure", "sure", "unsure", "mumbling", "failing", "stalling")
FOREVER_S = 100_000.0
PIECE = 7


class SimProvider:
    """See `runtimes.models.base.Provider`."""

    def __init__(self, numbers: random.Random) -> None:
        """Draw moods from ``numbers``."""
        self._numbers = numbers

    def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
        """Answer in pieces, or not."""
        del request
        mood = self._numbers.choice(MOODS)
        confidence = 0.9 if mood == "sure" else 0.3
        said = {"answer": "yes", "confidence": confidence, "reason": "so it seems"}
        text = "well, yes" if mood == "mumbling" else json.dumps(said)
        for at in range(0, len(text), PIECE):
            if cancel.wait(FOREVER_S if mood == "stalling" and at else 0.1):
                return
            yield TextDelta(text[at : at + PIECE])
            if mood == "failing":
                yield CallFailed("the line broke")
                return
        yield Finished("stop")
