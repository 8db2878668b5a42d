"""The questions of subagents that work side by side: a person gets one at a time.  Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.turn import TurnEffect


class QuestionLine:
    """Who asks, and who waits to ask.  Questions are known by their keys."""

    def __init__(self) -> None:
        """Begin with nobody asking."""
        self._asking: str | None = None
        self._waiting: deque[tuple[str, Callable[[], Sequence[TurnEffect]]]] = deque()

    def enter(self, key: str, ask: Callable[[], Sequence[TurnEffect]]) -> Sequence[TurnEffect]:
        """Ask now, or once those before are done; see `next_one`."""
        if self._asking is not None:
            self._waiting.append((key, ask))
            return ()
        self._asking = key
        return ask()

    def leave(self, key: str) -> bool:
        """Forget a question that was answered or taken back; False: it was never put."""
        if self._asking == key:
            self._asking = None
            return True
        self._waiting = deque(each for each in self._waiting if each[0] != key)
        return False

    def next_one(self) -> Sequence[TurnEffect]:
        """Put the next question, if nobody asks."""
        if self._asking is not None or not self._waiting:
            return ()
        self._asking, ask = self._waiting.popleft()
        return ask()
