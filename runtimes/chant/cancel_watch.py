"""A run that listens for ``chant run cancel`` of another process.  Pure.

The wait is a step of our own on a leaf thread; it ends when someone asks, or when the run is over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.turn import AbortStep
from runtimes.chant.leaf import own_step

if TYPE_CHECKING:
    from actors.turn import TurnEffect
    from actors.work import StepEnd, WorkContext
    from ops.in_flight import Wish
    from runtimes.chant.run_tasks import Prepared

WATCH = "(watch)"


class CancelWatch:
    """The listening of one run."""

    def __init__(self, prepared: Prepared) -> None:
        self._wait = prepared.watch
        self._heard: Wish | None = None
        self._running = False

    def start(self) -> list[TurnEffect]:
        """Listen, if anyone can ask and not all has been asked for."""
        wait, heard = self._wait, self._heard
        if wait is None or self._running or heard == "hard_stop":
            return []
        self._running = True

        def listen(context: WorkContext) -> Wish | None:
            return wait(context.cancel, heard)

        return [own_step(WATCH, listen)]

    def stop(self) -> list[TurnEffect]:
        """Listen no more."""
        return [AbortStep(WATCH)] if self._running else []

    def ended(self, end: StepEnd) -> Wish | None:
        """Return what was asked for, None when nobody asked."""
        self._running = False
        if end.value in {"cancel", "hard_stop"}:
            self._heard = end.value
            return self._heard
        return None

    def lost(self) -> list[TurnEffect]:
        """Listen again after whoever performed our effects forgot it."""
        self._running = False
        return self.start()
