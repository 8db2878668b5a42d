"""Turns that a session begins by itself, to tell the model which background jobs have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.turn import EndTurn, TurnResult
from runtimes.radian import events

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.turn import TurnEffect, TurnEvent, TurnMachine
    from runtimes.radian.agent_turn import AgentTurn
    from runtimes.radian.session import AgentSession

MOST_IN_A_ROW = 32
"""Between two prompts.  A job that such a turn starts wakes the session again, which is how a model
waits for a long build; one that never stops waiting must not spend money for ever."""


class Wakes:
    """See the module, and `actors.runtime.OwnTurns`.  Used by one thread at a time."""

    def __init__(self, session: AgentSession) -> None:
        """Wake ``session``; nothing does before `connect`."""
        self._session = session
        self._in_a_row = 0
        self._last = 0
        """The number of the last such turn."""

    def connect(self, wish: Callable[[], None]) -> None:
        """From now on call ``wish`` when a job has ended, on the thread that saw it."""
        self._session.desk.jobs.ended = wish

    def begin(self) -> TurnMachine:
        """Make the turn's machine; it does nothing where all has been told by now."""
        return self.next_turn() or Nothing()

    def next_turn(self) -> AgentTurn | None:
        """Make the turn if there is something to tell; no other turn runs."""
        session = self._session
        if not session.desk.jobs.has_untold_ends():
            return None
        if session.last_turn != self._last:
            self._in_a_row = 0
        if self._in_a_row >= MOST_IN_A_ROW:
            return None  # the next prompt's turn tells it
        self._in_a_row += 1
        self._last = session.last_turn + 1
        last = self._in_a_row == MOST_IN_A_ROW
        return session.turn((), "wake", (events.Warning(_LAST),) if last else ())


_LAST = (
    f"background jobs have begun {MOST_IN_A_ROW} turns since the last prompt; "
    "when more of them end, they wait for a prompt"
)


class Nothing:
    """A turn that ends as it begins, and of which nobody hears."""

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """End, whatever it was."""
        del event
        return [EndTurn(TurnResult())]
