"""ReaderActor: the only one that reads from the client."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeAlias

from actors.base import Actor
from actors.faults import point
from actors.messages import CancelRead, Incoming, ReadMore
from actors.spill import SpillingStore
from actors.stdio import End, Woken
from protocol.errors import InvalidRequest, ProtocolError, line_too_long
from protocol.framing import LineSplitter, LineTooLong
from protocol.jsonrpc import Failure, Ignored, Notification, Rejected, Request, Result, decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.address import Address
    from actors.base import System
    from actors.connection import Connection
    from actors.messages import RouterMessage
    from actors.wire import ByteSource
    from protocol.framing import Frame
    from protocol.members import JsonObject

ToTell: TypeAlias = Incoming | CancelRead

AFTER_DECODE = point("reader.decoded", "a message was decoded and entered, nobody knows of it yet")


class ReaderState:
    """What outlives a crash of the reader: the partial line, lines not yet looked at, the count."""

    def __init__(self) -> None:
        """Start before the first byte."""
        self.splitter = LineSplitter(store=SpillingStore())
        self.frames: deque[Frame] = deque()
        self.in_hand: deque[ToTell] = deque()
        self.seq = 0
        self.ended = False


class ReaderActor(Actor[ReadMore]):
    """Turns bytes into messages for the router; answers by itself what is no message."""

    def __init__(
        self,
        system: System,
        address: Address[ReadMore],
        *,
        source: ByteSource,
        state: ReaderState,
        connection: Connection,
        router: Address[RouterMessage],
        input_ended: Callable[[], None],
    ) -> None:
        """Read ``source``; ``input_ended`` is called once when nothing more can come."""
        super().__init__(system, address)
        self._source = source
        self._state = state
        self._connection = connection
        self._router = router
        self._input_ended = input_ended

    def started(self) -> None:
        """Pass on what an earlier incarnation had in hand, then read."""
        self.mailbox.interrupt = self._source.wake
        self._connection.on_room(self._source.wake)
        self._pass_on()
        self.address.tell(ReadMore())

    def receive(self, message: ReadMore) -> None:
        """Wait for input once and handle it, as far as the limit of unanswered requests allows."""
        del message
        state = self._state
        if state.ended:
            return
        if not state.frames or self._connection.full():
            got = self._source.read(only_end=self._connection.full())
            if isinstance(got, End):
                state.ended = True
                self._input_ended()
                return
            if not isinstance(got, Woken):
                state.frames.extend(state.splitter.feed(got))
        while state.frames and not self._connection.full():
            self._look_at(state.frames.popleft())
            self._pass_on()
        self.address.tell(ReadMore())

    def _look_at(self, frame: Frame) -> None:
        if isinstance(frame, LineTooLong):
            self._connection.answer_nameless(None, line_too_long(frame.limit))
            return
        message = decode(frame.data)
        match message:
            case Request():
                self._request(message)
            case Notification():
                self._notification(message)
            case Result() | Failure():
                self._hand(Incoming(self._next(), message))
            case Rejected(request_id, error):
                self._connection.answer_nameless(request_id, error)
            case Ignored():
                pass  # answers and notifications that are malformed get no answer

    def _request(self, request: Request) -> None:
        seq = self._next()
        if not self._connection.enter(request.id, seq):
            busy = InvalidRequest("a request with this id is still being answered")
            self._connection.answer_nameless(request.id, busy)
            return
        if request.method == "session/cancel":
            # A notification by the book, but some clients send it with an id: cancel all the same.
            self._hand(*_cancel(request.params, seq), Incoming(seq, request))
        else:
            self._hand(Incoming(seq, request))

    def _notification(self, notification: Notification) -> None:
        if notification.method == "session/cancel":
            self._hand(*_cancel(notification.params, self._next()))
        elif notification.method == "$/cancel_request":
            from protocol.acp.sessions import parse_cancel_request

            try:
                request_id = parse_cancel_request(notification.params)
            except ProtocolError:
                return
            self._hand(CancelRead(self._next(), request_id=request_id, by_request=True))

    def _next(self) -> int:
        self._state.seq += 1
        return self._state.seq

    def _hand(self, *messages: ToTell) -> None:
        self._state.in_hand.extend(messages)
        self.system.faults.at(AFTER_DECODE)

    def _pass_on(self) -> None:
        """Tell the router what is in hand; nothing may come between telling and forgetting."""
        while self._state.in_hand:
            self._router.tell(self._state.in_hand[0])
            self._state.in_hand.popleft()


def _cancel(params: JsonObject, seq: int) -> tuple[CancelRead, ...]:
    from protocol.acp.sessions import parse_cancel

    try:
        return (CancelRead(seq, parse_cancel(params).session_id),)
    except ProtocolError:
        return ()  # names no session, so it means none
