"""What the actor layer needs from the world: threads, conditions, a clock.

Everything that waits goes through these, so that a deterministic runtime can take their place.
Types only: the one that servers run on is `actors.real_platform`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class Condition(Protocol):
    """A lock with a place to wait, as `threading.Condition` has it."""

    def __enter__(self) -> bool:
        """Take the lock."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Free the lock."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Free the lock, sleep until notified or for ``timeout`` seconds, take it again."""
        ...

    def notify(self, n: int = 1) -> None:
        """Wake ``n`` sleepers."""
        ...

    def notify_all(self) -> None:
        """Wake every sleeper."""
        ...


class Task(Protocol):
    """A started thread."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end, at most ``timeout`` seconds."""
        ...

    def is_alive(self) -> bool:
        """Tell whether it still runs."""
        ...


class Platform(Protocol):
    """Threads, conditions and time."""

    def condition(self) -> Condition:
        """Make a condition with a lock of its own."""
        ...

    def spawn(self, name: str, target: Callable[[], None]) -> Task:
        """Run ``target`` on a thread of its own that never keeps the process alive."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def wall(self) -> float:
        """Seconds since the epoch, for records that people read."""
        ...

    def entropy(self, size: int) -> bytes:
        """Return ``size`` bytes that nobody can guess, for ids."""
        ...
