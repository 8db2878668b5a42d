"""Tasks on greenlets: one thread, cheaper switches, the same traces."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from types import FrameType

    from actors.simulation.backend import Body
    from actors.simulation.task import SimTask


class GreenletBackend:
    """See `Backend`."""

    def __init__(self) -> None:
        """Belong to the thread that calls `run`."""
        self._outside: greenlet
        self._to: SimTask | None = None
        self._body: Body

    def begin(self, body: Body) -> None:
        """See `Backend.begin`."""
        self._body = body

    def run(self, task: SimTask) -> None:
        """See `Backend.run`.  Also carries on whenever a task has ended."""
        self._outside = getcurrent()
        self._to = task
        while (to := self._to) is not None:
            self._to = None
            self._greenlet(to).switch()

    def hand_over(self, me: SimTask, to: SimTask | None) -> None:
        """See `Backend.hand_over`."""
        del me
        (self._outside if to is None else self._greenlet(to)).switch()

    def frame(self, task: SimTask) -> FrameType | None:
        """See `Backend.frame`."""
        carrier = task.carrier
        if carrier is getcurrent():  # the running one has no frame of its own
            return inspect.currentframe()
        return carrier.gr_frame if isinstance(carrier, greenlet) else None

    def close(self) -> None:
        """See `Backend.close`.  A greenlet ends with its task: nothing is kept."""

    def _greenlet(self, task: SimTask) -> greenlet:
        carrier = task.carrier
        if not isinstance(carrier, greenlet):
            carrier = task.carrier = greenlet(lambda: self._carry(task), parent=self._outside)
        return carrier

    def _carry(self, task: SimTask) -> None:
        # Control goes back to the parent when this returns, and from there to whoever is next.
        self._to = self._body(task)
