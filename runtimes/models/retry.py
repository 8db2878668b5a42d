"""When to call again after a failed call, and how long to wait before.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.values import frozen

if TYPE_CHECKING:
    from runtimes.models.base import CallFailed


@frozen
class RetryPolicy:
    """The bounds of trying again."""

    max_attempts: int = 5
    """Of one call, the first included."""
    max_total_s: float = 180.0
    """From the first attempt's start to the last one's."""
    first_wait_s: float = 0.5
    """Doubled for each attempt, and shortened by chance, so that many callers don't meet again."""
    max_hint_s: float = 120.0
    """A provider that asks for a longer wait will not be back in time."""

    def wait_s(
        self, failure: CallFailed, attempt: int, elapsed_s: float, chance: float
    ) -> float | None:
        """Return how long to wait before the next attempt, None to give up.

        ``attempt`` has just failed, counted from 1; ``chance`` lies in 0 to 1.
        """
        if not failure.retry or attempt >= self.max_attempts:
            return None
        hint_s = failure.retry_after_s
        if hint_s is not None and hint_s > self.max_hint_s:
            return None
        wait_s = self.first_wait_s * 2 ** (attempt - 1) * chance if hint_s is None else hint_s
        return wait_s if elapsed_s + wait_s <= self.max_total_s else None


STANDARD = RetryPolicy()
ONCE = RetryPolicy(max_attempts=1)
