"""The way to end an agent: close its stdin, then TERM, then KILL, each after a while.

Nothing here waits: the loop asks when the next step is due.
"""

from __future__ import annotations

import signal
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtimes.chantry.agent import Agent
    from runtimes.chantry.effects import Patience

_WAITS_S: Final[dict[Patience, tuple[float, float]]] = {
    "polite": (2.0, 2.0),
    "brisk": (1.0, 3.0),
    "none": (0.0, 0.0),
}
"""Seconds before TERM, and from there to KILL."""


class Ending:
    """What is left to be done to end the agent."""

    def __init__(self, agent: Agent, clock: Callable[[], float]) -> None:
        """Plan nothing yet; ``clock`` gives seconds on a monotonic clock."""
        self._agent = agent
        self._clock = clock
        self._due: deque[tuple[float, signal.Signals]] = deque()
        self.begun = False
        self.signalled = False

    def begin(self, patience: Patience) -> None:
        """Close the agent's stdin and plan the rest; again: plan anew."""
        self.begun = True
        if patience == "polite":
            self._agent.close_input()
        else:
            self._agent.drop_input()
        to_term, to_kill = _WAITS_S[patience]
        now = self._clock()
        kill = (now + to_term + to_kill, signal.SIGKILL)
        self._due = deque([(now + to_term, signal.SIGTERM), kill])
        self.advance()

    def advance(self) -> None:
        """Do what is due."""
        while self._due and self._due[0][0] <= self._clock():
            self.signalled = True
            self._agent.signal(self._due.popleft()[1])

    @property
    def wait_ms(self) -> int | None:
        """Milliseconds until something is due; None: nothing will be."""
        if not self._due:
            return None
        return max(0, int((self._due[0][0] - self._clock()) * 1000) + 1)
