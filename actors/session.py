"""SessionActor: one conversation; hands its turns to the executor and passes cancels on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.base import Actor
from actors.session_state import SessionMessage, SessionState

if TYPE_CHECKING:
    from actors.address import Address
    from actors.base import System
    from actors.step_executor import ExecutorMessage
    from actors.turn_slot import SessionDesk


class SessionActor(Actor[SessionMessage]):
    """Decides by `SessionState`; whatever takes time happens below it."""

    def __init__(
        self,
        system: System,
        address: Address[SessionMessage],
        desk: SessionDesk,
        executor: Address[ExecutorMessage],
    ) -> None:
        """Run the turns of ``desk`` on ``executor``."""
        super().__init__(system, address)
        slot = desk.slot
        # After a crash the turn goes on: the executor, started again after us, looks after it.
        running = slot.turn_id if slot is not None and slot.state != "ended" else None
        self._state = SessionState(desk.session_id, running)
        self._executor = executor

    def receive(self, message: SessionMessage) -> None:
        """Handle a start, a cancel or an end."""
        for order in self._state.handle(message):
            self._executor.tell(order)
