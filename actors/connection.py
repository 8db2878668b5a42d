"""What the actors of one connection share: the owed table, our open questions, the way out.

Everything here is short and never waits; the tables are pure, the lock is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.gate import GateClosed
from actors.messages import AfterAnswers, Respond
from protocol.errors import InternalError, ProtocolError
from protocol.jsonrpc import encode_error, encode_result
from protocol.owed import OwedTable
from protocol.pending import PendingTable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from actors.address import Address
    from actors.gate import Gate
    from actors.messages import ResponderMessage
    from actors.platform import Platform
    from protocol.jsonrpc import RequestId

MAX_UNANSWERED = 256
"""Requests that may be unanswered before the reader stops reading."""


class Connection:
    """One client: what it is owed, what it was asked, and the gate to it."""

    def __init__(
        self, platform: Platform, gate: Gate, responder: Address[ResponderMessage]
    ) -> None:
        """Start with nothing owed and nothing asked."""
        self.gate = gate
        self._responder = responder
        self._lock = platform.condition()
        self._owed = OwedTable()
        self._asked: PendingTable[Any] = PendingTable()
        self._leaving = 0
        """Answers that are counted as sent but may not have entered the gate yet."""
        self._room: Callable[[], None] | None = None

    # --- what the client is owed

    def enter(self, request_id: RequestId, seq: int) -> bool:
        """Note a request before anyone is told of it; False when its id is in flight already."""
        with self._lock:
            return self._owed.enter(request_id, seq)

    def claim(self, request_id: RequestId, turn_id: str) -> bool:
        """Give a request to a turn, which then answers it."""
        with self._lock:
            return self._owed.claim(request_id, turn_id)

    def owes(self, turn_id: str) -> bool:
        """Tell whether a turn has still to answer the request that it has claimed."""
        with self._lock:
            return bool(self._owed.owed_by(turn_id))

    def settle(self, request_id: RequestId) -> bool:
        """Take the right to answer: True for exactly one caller."""
        with self._lock:
            return self._owed.settle(request_id)

    def answer(self, request_id: RequestId, value: object) -> None:
        """Answer a request that belongs to no turn, unless someone else did."""
        if self.settle(request_id):
            self._responder.tell(Respond(request_id, _encoded(request_id, value)))

    def answer_nameless(self, request_id: RequestId, error: ProtocolError) -> None:
        """Answer a line that never became a request of its own."""
        with self._lock:
            self._owed.enter_anonymous()
        self._responder.tell(Respond(request_id, encode_error(request_id, error), nameless=True))

    def after_answers(self, go: Callable[[], None]) -> None:
        """Have ``go``, which must not wait, called when all answers so far have passed the gate.

        So what it starts may use the gate directly and still can't overtake any of them.
        """
        self._responder.tell(AfterAnswers(go))

    def deliver(self, request_id: RequestId, line: bytes) -> None:
        """Put a settled answer through the gate, from the thread that said what goes before it.

        Whatever keeps this thread from it, the responder then does it.

        Raises:
            GateClosed: The connection is over.

        """
        # Before the put: the client may use the id again as soon as it sees the answer.
        self.sent(request_id)
        try:
            self.pass_on(line)
        except GateClosed:
            raise
        except BaseException:
            self._responder.tell(Respond(request_id, line, counted=True))
            raise

    def pass_on(self, line: bytes) -> None:
        """Put the line of an answer through the gate; see `wait_answered`.

        Raises:
            GateClosed: The connection is over.

        """
        try:
            self.gate.put((line,))
        finally:
            with self._lock:
                # A retried answer passes here twice but was counted once.
                self._leaving = max(0, self._leaving - 1)
                self._lock.notify_all()

    def sent(self, request_id: RequestId, *, nameless: bool = False) -> None:
        """Forget an answer that `pass_on` takes next: the client may then use its id again."""
        with self._lock:
            if nameless:
                self._owed.sent_anonymous()
            else:
                self._owed.sent(request_id)
            self._leaving += 1
            self._lock.notify_all()
            room = self._room if self._owed.unanswered < MAX_UNANSWERED else None
        if room is not None:
            room()

    def wait_answered(self, make_s: float, leave_s: float, platform: Platform) -> None:
        """Wait until all that belongs to no turn is answered.

        At most ``make_s`` seconds for answers that are being made, such as a session that is being
        opened, and ``leave_s`` for those that are ready to leave: a client may not read.
        """
        until = platform.monotonic() + make_s
        ready_until: float | None = None
        with self._lock:
            while self._owed.unclaimed_count or self._leaving:
                now = platform.monotonic()
                if not self._leaving:
                    ready_until = None
                elif ready_until is None:
                    ready_until = now + leave_s
                left_s = (until if ready_until is None else ready_until) - now
                if left_s <= 0:
                    return
                self._lock.wait(left_s)

    def full(self) -> bool:
        """Tell whether so much is unanswered that nothing more should be read."""
        with self._lock:
            return self._owed.unanswered >= MAX_UNANSWERED

    def on_room(self, wake: Callable[[], None]) -> None:
        """Have ``wake`` called whenever an answer left and there is room to read on."""
        self._room = wake

    # --- what the client was asked

    def open_question(self, what: object, owner: Hashable) -> int:
        """Open a question of ours and return its id."""
        with self._lock:
            return self._asked.issue(what, owner)

    def take_question(self, request_id: RequestId) -> Any:
        """Close the question that an answer names; None when nobody waits for it."""
        with self._lock:
            return self._asked.take(request_id)

    def drop_questions(self, owner: Hashable) -> list[Any]:
        """Close all questions of ``owner`` and return them: their answers will be late."""
        with self._lock:
            return [question for _, question in self._asked.drop_owner(owner)]


def _encoded(request_id: RequestId, value: object) -> bytes:
    if isinstance(value, ProtocolError):
        return encode_error(request_id, value)
    try:
        return encode_result(request_id, value)
    except TypeError:
        return encode_error(request_id, InternalError())
