"""One session's decisions: which turn runs, and what a cancel means for it.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from protocol.named_tuple import NamedTuple
from protocol.values import slotted

if TYPE_CHECKING:
    from actors.turn import CancelReason
    from actors.turn_slot import TurnSlot


class StartTurn(NamedTuple):
    """Router to session: run this turn."""

    slot: TurnSlot


class CancelTurn(NamedTuple):
    """Router to session, session to executor: stop the turn; the slot says how."""

    turn_id: str
    reason: CancelReason

    @property
    def urgent(self) -> bool:
        """It travels in the control lane."""
        return True


class TurnEnded(NamedTuple):
    """Speaker to session: the turn's last word has left."""

    turn_id: str


SessionMessage: TypeAlias = StartTurn | CancelTurn | TurnEnded


@slotted
class SessionState:
    """Idle, or running one turn."""

    session_id: str
    running: str | None = None

    def handle(self, message: SessionMessage) -> list[StartTurn | CancelTurn]:
        """Take one message and say what the executor is told, in order.

        A cancel for a turn that is not running is dropped: it came too late, or the turn that it
        means has not been started here yet and carries it in its slot.
        """
        match message:
            case StartTurn(slot):
                self.running = slot.turn_id
                return [message]
            case CancelTurn(turn_id):
                return [message] if turn_id == self.running else []
            case TurnEnded(turn_id):
                if turn_id == self.running:
                    self.running = None
                return []
