"""A platform whose threads may fail to start and whose sleepers wake early or late.

Every thread and every wait on a condition goes through the platform, so with a fault plan each of
them is a point, and without one none of this is there.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from actors.faults import point

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from actors.faults import Faults
    from actors.platform import Condition, Platform, Task

THREAD_START = point(
    "thread.start", "a thread is about to be started", ("error", "delay", "stall", "exit")
)
THREAD_WAIT = point(
    "thread.wait",
    "a thread is about to sleep on a condition; drop: it wakes at once, for nothing",
    ("drop", "delay", "stall", "exit"),
)


class FaultyPlatform:
    """See `actors.platform.Platform`."""

    def __init__(self, platform: Platform, faults: Faults) -> None:
        """Let ``faults`` spoil what ``platform`` does."""
        self._platform = platform
        self._faults = faults

    def condition(self) -> Condition:
        """Make a condition whose waits are points; the waiting thread's name is ``who``."""
        return _FaultyCondition(self._platform.condition(), self._faults)

    def spawn(self, name: str, target: Callable[[], None]) -> Task:
        """Start a thread.

        Raises:
            RuntimeError: The plan says that there are no more threads.

        """
        try:
            self._faults.at(THREAD_START, name)
        except OSError as error:
            message = f"can't start new thread: {error}"
            raise RuntimeError(message) from error
        return self._platform.spawn(name, target)

    def monotonic(self) -> float:
        """Read the monotonic clock."""
        return self._platform.monotonic()

    def wall(self) -> float:
        """Read the wall clock."""
        return self._platform.wall()

    def entropy(self, size: int) -> bytes:
        """Ask the platform."""
        return self._platform.entropy(size)


class _FaultyCondition:
    """See `actors.platform.Condition`."""

    def __init__(self, inner: Condition, faults: Faults) -> None:
        self._inner = inner
        self._faults = faults

    def __enter__(self) -> bool:
        return self._inner.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep, unless the plan wakes the sleeper at once; the lock is free for a moment then."""
        verdict = self._faults.at(THREAD_WAIT, threading.current_thread().name)
        return self._inner.wait(0 if verdict == "drop" else timeout)

    def notify(self, n: int = 1) -> None:
        """Wake ``n`` sleepers."""
        self._inner.notify(n)

    def notify_all(self) -> None:
        """Wake every sleeper."""
        self._inner.notify_all()
