"""Our end of the connection to one MCP server: bytes in, what they mean out.  Pure.

JSON-RPC 2.0, one message a line, as ACP has it.  What is no message is counted and passed over:
many servers print banners where only messages belong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from protocol.errors import MethodNotFound
from protocol.framing import Line, LineSplitter
from protocol.jsonrpc import (
    Failure,
    Notification,
    Rejected,
    Request,
    Result,
    decode,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
)
from protocol.pending import PendingTable
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from protocol.jsonrpc import Message

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Of one message.  Room for a page as a picture; a result is cut far below this anyway."""
MAX_BATCH = 64
"""Messages in one line, as servers of 2025-03-26 may send them."""


@frozen
class Answered:
    """The server answered request ``id`` of ours; ``error`` says why it could not, if so."""

    id: int
    value: Any = None
    error: str | None = None


@frozen
class Told:
    """The server notified us."""

    method: str
    params: Mapping[str, Any]


Heard: TypeAlias = Answered | Told


class McpPeer:
    """One connection, from its first byte to its last.  Whoever shares it holds a lock."""

    def __init__(self, root_uri: str, limit: int = MAX_LINE_BYTES) -> None:
        """``root_uri``: where we work, for servers that ask; ``limit``: bytes of a line."""
        self._root = {"uri": root_uri, "name": root_uri.rstrip("/").rpartition("/")[2]}
        self._lines = LineSplitter(limit)
        self._limit = limit
        self._pending: PendingTable[str] = PendingTable()
        self._outgoing = bytearray()
        self.strays = 0
        """Lines that were no message, or too long for one."""

    def request(self, method: str, params: dict[str, Any]) -> int:
        """Ask something; the id comes back in `Answered`."""
        request_id = self._pending.issue(method, method.partition("/")[0])
        self._outgoing += encode_request(request_id, method, params)
        return request_id

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell something."""
        self._outgoing += encode_notification(method, params)

    def give_up(self, request_id: int, reason: str) -> None:
        """Tell the server that nobody waits for an answer any more; a late one is passed over."""
        if self._pending.take(request_id) is not None:
            given = {"requestId": request_id, "reason": reason}
            self.notify("notifications/cancelled", given)

    def take_outgoing(self) -> bytes:
        """Return what is to be written, once."""
        data = bytes(self._outgoing)
        self._outgoing.clear()
        return data

    def feed(self, data: bytes) -> list[Heard]:
        """Take what the server wrote; its own questions are answered at once."""
        heard: list[Heard] = []
        for frame in self._lines.feed(data):
            if isinstance(frame, Line):
                heard += self._line(bytes(frame.data))
            else:
                self.strays += 1
                heard += self._lost()
        return heard

    def _line(self, line: bytes) -> Iterator[Heard]:
        for message in _messages(line):
            yield from self._message(message)

    def _message(self, message: Message) -> Iterable[Heard]:
        match message:
            case Result(request_id, value):
                return self._answered(request_id, value, None)
            case Failure(request_id, code, text):
                return self._answered(request_id, None, f"{text} ({code})")
            case Notification(method, params):
                return (Told(method, params),)
            case Request():
                self._answer(message)
            case Rejected() | _:
                self.strays += 1
        return ()

    def _answered(self, request_id: Any, value: Any, error: str | None) -> Iterable[Heard]:
        if self._pending.take(request_id) is None:
            self.strays += 1  # unknown, given up, or answered before
            return ()
        return (Answered(request_id, value, error),)

    def _answer(self, request: Request) -> None:
        """Answer what is simple; a server may neither ask the model nor the person through us."""
        match request.method:
            case "ping":
                self._outgoing += encode_result(request.id, {})
            case "roots/list":
                self._outgoing += encode_result(request.id, {"roots": [self._root]})
            case method:
                self._outgoing += encode_error(request.id, MethodNotFound(method))

    def _lost(self) -> Iterator[Answered]:
        """Close every question about tools: which of them the line has answered is unknown."""
        error = f"the server sent a line longer than {self._limit} bytes, perhaps the answer"
        for request_id, _ in self._pending.drop_owner("tools"):
            yield Answered(request_id, error=error)


def _messages(line: bytes) -> Iterable[Message]:
    if not line.lstrip().startswith(b"["):
        return (decode(line),)
    import orjson

    from runtimes.models.json_text import parse

    try:
        batch: Any = parse(line)
    except ValueError:
        return (decode(line),)
    return tuple(decode(orjson.dumps(each)) for each in batch[:MAX_BATCH])
