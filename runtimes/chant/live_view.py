"""A run on a terminal, with a last line that tells what runs and for how long.

Steps may be silent for minutes.  The line appears only when nothing was said for a second, is taken
away before anything else is written, and leaves no trace.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Self, TextIO

from ops.events import RunSettled, StepSettled, StepStarted
from runtimes.chant.items import PlanAnnounced
from runtimes.chant.wording import duration_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.chant.items import Item
    from runtimes.chant.render import View

TICK_S = 1.0
ERASE = "\r\033[K"
USUAL_COLUMNS = 80


class LiveView:
    """Another view with the line below it.  ``show`` and ``tick`` come from different threads."""

    def __init__(self, inner: View, out: TextIO) -> None:
        """Show on ``inner``, which writes to ``out``, a terminal; it always ends its lines."""
        self._inner = inner
        self._out = out
        self._lock = threading.Lock()
        self._running: dict[str, float] = {}
        self._done = self._total = 0
        self._drawn = self._quiet = False
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick_on, name="live-view", daemon=True)

    def __enter__(self) -> Self:
        """Begin to tick."""
        self._ticker.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Take the line away and tick no more."""
        self._over.set()
        self._ticker.join()
        with self._lock:
            self._erase()

    def show(self, items: Sequence[Item]) -> None:
        """Show items; the line comes back with the next tick."""
        with self._lock:
            self._erase()
            self._quiet = False
            self._inner.show(items)
            for item in items:
                self._note(item)

    def tick(self, now_s: float) -> None:
        """Draw the line anew, unless something was said since the last tick."""
        with self._lock:
            if self._quiet and self._running:
                self._out.write(f"{ERASE}{self._line(now_s)}")
                self._out.flush()
                self._drawn = True
            self._quiet = True

    def _tick_on(self) -> None:
        while not self._over.wait(TICK_S):
            try:
                self.tick(time.monotonic())
            except OSError:
                return  # the terminal is gone; whoever shows something finds out, too

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = False
            self._out.write(ERASE)
            self._out.flush()

    def _note(self, item: Item) -> None:
        match item:
            case PlanAnnounced(plan=plan):
                self._total = len(plan.steps)
            case StepStarted():
                self._running[item.step_id] = time.monotonic()
            case StepSettled():
                self._running.pop(item.step_id, None)
                self._done += not item.compensates
            case RunSettled():
                self._running.clear()
            case _:
                return

    def _line(self, now_s: float) -> str:
        since = [
            f"{step_id} {duration_text(round(now_s - began_s) * 1000)}"
            for step_id, began_s in self._running.items()
        ]
        text = f"{self._done} of {self._total} done, running: {', '.join(since)}"
        # Exactly a full line would make some terminals begin the next.
        room = self._columns() - 1
        return text if len(text) <= room else f"{text[: room - 1]}…"

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._out.fileno()).columns or USUAL_COLUMNS
        except (OSError, ValueError):
            return USUAL_COLUMNS
