"""ResponderActor: waits at the gate for answers that belong to no turn."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from actors.base import Actor
from actors.gate import GateClosed
from actors.messages import AfterAnswers

if TYPE_CHECKING:
    from actors.address import Address
    from actors.base import System
    from actors.connection import Connection
    from actors.messages import Respond, ResponderMessage


class ResponderActor(Actor["ResponderMessage"]):
    """The one actor that may wait at the gate, so that no other has to."""

    def __init__(
        self, system: System, address: Address[ResponderMessage], connection: Connection
    ) -> None:
        """Answer through the gate of ``connection``."""
        super().__init__(system, address)
        self._connection = connection
        self._counted: Respond | None = None
        self._delivered: ResponderMessage | None = None

    def receive(self, message: ResponderMessage) -> None:
        """Put one answer through the gate, or let go what waited for those before it."""
        if isinstance(message, AfterAnswers):
            message.go()
        else:
            self._put(message)
        self._delivered = message

    def _put(self, message: Respond) -> None:
        # Before the put: the client may use the id again as soon as it sees the answer.
        if not message.counted:
            self._connection.sent(message.request_id, nameless=message.nameless)
        self._counted = message
        with suppress(GateClosed):  # the connection is over, and so is the debt
            self._connection.pass_on(message.frame)

    def last_words(self, message: ResponderMessage) -> None:
        """Leave an answer that did not get through to the next incarnation."""
        if message is self._delivered:
            return
        if not isinstance(message, AfterAnswers):
            counted = message.counted or message is self._counted
            message = message._replace(counted=counted)
        self.keep(message)
