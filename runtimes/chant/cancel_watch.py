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
MAX_FAULTS = 3
"""How often the wait may break before a run listens no more."""


class CancelWatch:
    """The listening of one run."""

    def __init__(self, prepared: Prepared) -> None:
        self._wait = prepared.watch
        self._heard: Wish | None = None
        self._running = False
        self._faults = 0

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

    def broke(self, end: StepEnd) -> bool:
        """Tell whether the wait ended by a fault of ours, and is worth another try."""
        self._faults += end.kind in {"failed", "lost"}
        return end.kind in {"failed", "lost"} and self._faults <= MAX_FAULTS

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
