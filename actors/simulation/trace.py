"""What happened in a world, in order: every decision of the scheduler and every event.

The same entries give the same hash, on every machine and with every backend.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.simulation.task import SimTask

HASH_CHARS = 16
SHORT_LINES = 60
"""Lines of a shortened trace."""


class Trace:
    """The entries of one world.  Decisions are numbers of tasks, the rest is text."""

    def __init__(self) -> None:
        """Start empty."""
        self._entries: list[int | str] = []
        self._names: list[str] = []

    def spawned(self, task: SimTask) -> None:
        """Note a new task."""
        self._names.append(task.name)
        self._entries.append(f"+ {task.name}")

    def switched(self, task: SimTask) -> None:
        """Note that another task goes on."""
        self._entries.append(task.number)

    def event(self, text: str) -> None:
        """Note what happened, in words that are the same for each run of a seed."""
        self._entries.append(text)

    @property
    def hash(self) -> str:
        """The trace in 16 hex digits."""
        text = "\n".join(map(str, self._entries))
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:HASH_CHARS]

    def lines(self) -> list[str]:
        """Tell the trace for people: a line for each event, under the task that it happened in."""
        told: list[str] = []
        running = "main"
        for entry in self._entries:
            if isinstance(entry, int):
                running = self._names[entry]
            elif not entry.startswith("+ "):
                told.append(f"{running}: {entry}")
        return told

    def short(self) -> list[str]:
        """Return the end of it, and say how much was left out."""
        lines = self.lines()
        if len(lines) <= SHORT_LINES:
            return lines
        return [f"… {len(lines) - SHORT_LINES} earlier events …", *lines[-SHORT_LINES:]]
