"""The platform that servers run on: the operating system's threads and clock."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.platform import Condition, Task


class RealPlatform:
    """The operating system's threads and clock."""

    def condition(self) -> Condition:
        """Make a `threading.Condition` (its lock is re-entrant)."""
        return threading.Condition()

    def spawn(self, name: str, target: Callable[[], None]) -> Task:
        """Start a daemon thread: it sits in raw reads and writes only, so exit is clean."""
        thread = threading.Thread(name=name, target=target, daemon=True)
        thread.start()
        return thread

    def monotonic(self) -> float:
        """Read the monotonic clock."""
        return time.monotonic()

    def wall(self) -> float:
        """Read the wall clock."""
        return time.time()

    def entropy(self, size: int) -> bytes:
        """Ask the operating system."""
        return os.urandom(size)
