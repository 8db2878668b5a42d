"""ResponderActor: waits at the gate for answers that belong to no turn."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from actors.base import Actor
from actors.gate import GateClosed

if TYPE_CHECKING:
    from actors.address import Address
    from actors.base import System
    from actors.connection import Connection
    from actors.messages import Respond


class ResponderActor(Actor["Respond"]):
    """The one actor that may wait at the gate, so that no other has to."""

    def __init__(self, system: System, address: Address[Respond], connection: Connection) -> None:
        """Answer through the gate of ``connection``."""
        super().__init__(system, address)
        self._connection = connection
        self._delivered: Respond | None = None

    def receive(self, message: Respond) -> None:
        """Put one answer through the gate."""
        # Before the put: the client may use the id again as soon as it sees the answer.
        self._connection.sent(message.request_id, nameless=message.nameless)
        with suppress(GateClosed):  # the connection is over, and so is the debt
            self._connection.gate.put((message.frame,))
        self._delivered = message

    def last_words(self, message: Respond) -> None:
        """Leave an answer that did not get through to the next incarnation."""
        if message is not self._delivered:
            self.address.tell(message)
