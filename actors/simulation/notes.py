"""What the simulated main thread waits for."""

from __future__ import annotations

import queue
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.serve import Note
    from actors.simulation.platform import SimPlatform


class SimNotes:
    """See `actors.serve.Notes`."""

    def __init__(self, platform: SimPlatform) -> None:
        """Start without a note."""
        self._platform = platform
        self._changed = platform.condition()
        self._notes: deque[Note] = deque()

    def put(self, note: Note) -> None:
        """Leave a note."""
        with self._changed:
            self._notes.append(note)
            self._changed.notify()

    def get(self, block: bool = True, timeout: float | None = None) -> Note:  # noqa: FBT001, FBT002 - the queue's own signature
        """Wait for the next note.

        Raises:
            queue.Empty: None came in time.

        """
        until = None if timeout is None else self._platform.monotonic() + timeout
        with self._changed:
            while not self._notes:
                left_s = None if until is None else until - self._platform.monotonic()
                if not block or (left_s is not None and left_s <= 0):
                    raise queue.Empty
                self._changed.wait(left_s)
            return self._notes.popleft()
