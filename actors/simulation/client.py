"""The simulated client: what a scenario makes it send, and a reader that may be slow or leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from actors.simulation.book import Asked
from protocol.framing import Line, LineSplitter
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.simulation.book import Book, Json
    from actors.simulation.pipe import SimPipe
    from actors.simulation.platform import SimPlatform

CLOSED = {"closed": True}
"""What waiting for an answer returns when the server has gone."""
NEVER_S = 1e9


class Reading(NamedTuple):
    """How the client reads."""

    pause: float = 0.0
    """Seconds before each read."""
    most: int = 65_536
    """Bytes of one read."""
    leaves_after: int = -1
    """Bytes after which it closes its end; negative: never."""


class SimClient:
    """One client.  Its methods are called by the task that plays the scenario's part for it."""

    def __init__(
        self, platform: SimPlatform, book: Book, to_server: SimPipe, from_server: SimPipe
    ) -> None:
        """Talk through both pipes."""
        self._platform = platform
        self._book = book
        self._to_server = to_server
        self._from_server = from_server
        self._changed = platform.condition()
        self._sending = platform.condition()
        self._answers: dict[int, Json] = {}
        self._updates = 0
        self._tickets = 0
        self._free_ids: list[int] = []
        self.patience_s = NEVER_S
        """How long it waits for an answer; for plans that lose some."""
        self.uses_ids_again = False
        """As soon as they are free, which is allowed."""
        self._closed = False
        self.on_question: Callable[[Json], Json | None] = _reject
        """Answers what the agent asks: a result, or None to leave it open."""

    def start(self, reading: Reading) -> None:
        """Begin to read."""
        self._platform.spawn("client reads", lambda: self._read(reading))

    # --- sending

    def request(self, method: str, params: Json, tag: str = "", *, may_fail: bool = False) -> int:
        """Send a request and return a ticket for its answer, which ``may_fail`` to be a result."""
        self._tickets += 1
        ticket = self._tickets
        request_id = self._free_ids.pop(0) if self._free_ids else ticket
        asked = Asked(
            method, str(params.get("sessionId", "")), tag, may_fail or "; raise" in str(params)
        )
        self._book.sent_request(ticket, request_id, asked)
        self._send({"id": request_id, "method": method, "params": params})
        return ticket

    def double(self, ticket: int) -> None:
        """Send a request under an id that may be in flight; its answer is an error in any case.

        Only for a client that uses no id again: a ticket is an id then.
        """
        self._book.sent_double(ticket)
        self._send({"id": ticket, "method": "no/such", "params": {}})

    def cancel(self, session: str) -> None:
        """Send a cancel."""
        self._book.sent_cancel(session)
        self._send({"method": "session/cancel", "params": {"sessionId": session}})

    def initialize(self) -> Json:
        """Shake hands."""
        params: Json = {"protocolVersion": 1, "clientCapabilities": {}}
        return self.answer(self.request("initialize", params))

    def new_session(self, servers: Sequence[Json] = ()) -> str:
        """Open a session, with MCP ``servers``; return its id, empty when the server has gone."""
        params: Json = {"cwd": "/", "mcpServers": [*servers]}
        answer = self.answer(self.request("session/new", params))
        return str(answer.get("result", {}).get("sessionId", ""))

    def prompt(self, session: str, text: str, tag: str = "", meta: Json | None = None) -> int:
        """Send a prompt and return the ticket of its answer."""
        params: Json = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        return self.request("session/prompt", {**params, "_meta": meta} if meta else params, tag)

    def end_input(self) -> None:
        """Close what the server reads from."""
        self._book.end()
        self._to_server.close_writer()

    def leave(self) -> None:
        """Close both ends."""
        self.end_input()
        self._from_server.close_reader()

    # --- waiting

    def answer(self, ticket: int) -> Json:
        """Wait for the answer to a request."""
        until = self._platform.monotonic() + self.patience_s
        with self._changed:
            while ticket not in self._answers and not self._closed:
                if self._platform.monotonic() >= until:
                    self._platform.scheduler.progress()
                    break
                self._changed.wait(self.patience_s if self.patience_s < NEVER_S else None)
            return self._answers.get(ticket, CLOSED)

    def updates(self, count: int) -> None:
        """Wait until ``count`` updates have come, of whatever turn."""
        with self._changed:
            while self._updates < count and not self._closed:
                self._changed.wait()

    def until_closed(self) -> None:
        """Wait until the server has closed its end."""
        with self._changed:
            while not self._closed:
                self._changed.wait()

    # --- inside

    def _send(self, message: Json) -> None:
        line = orjson.dumps({"jsonrpc": "2.0", **message}, option=orjson.OPT_APPEND_NEWLINE)
        with self._sending:
            self._to_server.write_all(line)

    def _read(self, reading: Reading) -> None:
        splitter = LineSplitter()
        taken = 0
        while True:
            if reading.pause:
                self._platform.sleep(reading.pause)
            data = self._from_server.read_some(reading.most)
            taken += len(data)
            for frame in splitter.feed(data):
                if isinstance(frame, Line):
                    self._take(bytes(frame.data))
            if not data or 0 <= reading.leaves_after < taken:
                break
        if data:
            self.leave()
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _take(self, line: bytes) -> None:
        message = self._book.got(line)
        if "id" in message and "method" in message:
            self._asked(message)
        with self._changed:
            if message.get("method") == "session/update":
                self._updates += 1
            elif "method" not in message and (ticket := self._book.ticket(message)) is not None:
                if ticket not in self._answers and self.uses_ids_again:
                    self._free_ids.append(message["id"])
                self._answers[ticket] = message
            self._changed.notify_all()

    def _asked(self, message: Json) -> None:
        result: Any = self.on_question(message)
        if result is not None:
            # On a task of its own: a client that can't write must still read.
            answer = {"id": message["id"], "result": result}
            self._platform.spawn("client answers", lambda: self._send(answer))


def _reject(message: Json) -> Json:
    del message
    return {"outcome": {"outcome": "cancelled"}}
