"""Who restarts with whom, and how often: the pure half of supervision (after OTP)."""

from __future__ import annotations

from collections import deque
from typing import Literal, TypeAlias

Strategy: TypeAlias = Literal["one_for_one", "one_for_all", "rest_for_one"]


def affected(strategy: Strategy, names: tuple[str, ...], failed: str) -> tuple[str, ...]:
    """Return who must be stopped and started again with ``failed``, in starting order.

    ``names`` are all children in starting order; ``failed`` is one of them.
    """
    match strategy:
        case "one_for_one":
            return (failed,)
        case "one_for_all":
            return names
        case "rest_for_one":
            return names[names.index(failed) :]


class RestartBudget:
    """Allow ``limit`` restarts within ``window_s`` seconds, then none."""

    def __init__(self, limit: int, window_s: float) -> None:
        """Start with nothing spent."""
        self._limit = limit
        self._window_s = window_s
        self._spent: deque[float] = deque()

    def spend(self, now_s: float) -> bool:
        """Take one restart at ``now_s`` (monotonic seconds); False when there is none left."""
        while self._spent and now_s - self._spent[0] > self._window_s:
            self._spent.popleft()
        if len(self._spent) >= self._limit:
            return False
        self._spent.append(now_s)
        return True
