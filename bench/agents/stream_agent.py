"""A small agent on our own actor runtime: what a turn costs without anything behind it.

``stream N SIZE`` sends N updates of SIZE characters as a model's stream would bring them: several
with each read of the connection.  (A step's output would be hashed and captured too, which is work
of another kind.)  ``hang`` waits for a cancel, anything else ends at once.  The answer's
``_meta`` says how many messages were pending at the gate at the most.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from actors.model_call import ModelEnded, ModelRequest
from actors.opened_session import OpenedSession
from actors.serve import Server, process_ground
from actors.turn import (
    AbortCall,
    CancelAsked,
    EndTurn,
    ModelSaid,
    StartCall,
    TurnResult,
    TurnStarted,
)
from protocol.acp.prompts import Text
from protocol.acp.sessions import new_session_result
from protocol.acp.updates import AgentMessageChunk, encode_updates
from protocol.handshake import AgentCapabilities, AgentInfo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from actors.gate import Gate
    from actors.turn import TurnEffect, TurnEvent
    from actors.work import CancelToken
    from protocol.acp.prompts import Prompt
    from protocol.acp.sessions import LoadSession, NewSession, ResumeSession
    from protocol.handshake import InitializeParams

READ = 1 << 16
"""Characters that come at once: what one read of a busy connection brings."""


class StreamRuntime:
    """The smallest runtime: sessions without state, turns that stream."""

    turn_rule: Literal["queue", "refuse"] = "queue"
    methods: frozenset[str] = frozenset()
    gate: Gate | None = None

    def agent_info(self) -> AgentInfo:
        """Say who we are."""
        return AgentInfo("stream", "0")

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        """Advertise nothing."""
        del initialize
        return AgentCapabilities()

    def warm_up(self) -> None:
        """Have nothing to import."""

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        """Open a session anywhere."""
        session_id = uuid4().hex
        return OpenedSession(session_id, request.cwd, new_session_result(session_id))

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> StreamTurn:
        """Make the machine of one turn."""
        del session, turn_id
        first = prompt.blocks[0]
        words = first.text[:100].split() if isinstance(first, Text) else []
        return StreamTurn(words, self)

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        """Encode updates."""
        return encode_updates(session_id, items)


class StreamTurn:
    """One turn: a step that streams, or nothing that waits."""

    def __init__(self, words: list[str], runtime: StreamRuntime) -> None:
        self._words = words
        self._runtime = runtime
        self._cancelled = False

    def handle(self, event: TurnEvent) -> Sequence[TurnEffect]:
        """Start what the words say; end when it has ended, or on a cancel."""
        match event:
            case TurnStarted():
                return self._start()
            case CancelAsked():
                self._cancelled = True
                return [self._end()] if self._words == ["hang"] else [AbortCall("stream")]
            case ModelSaid(_, ModelEnded()):
                return [self._end()]
            case _:
                return []

    def _start(self) -> Sequence[TurnEffect]:
        match self._words:
            case ["stream", count, size]:
                numbers = _Numbers(int(count), int(size))
                request = ModelRequest(numbers.open, numbers.render, lambda _event: False)
                return [StartCall("stream", request)]
            case ["hang"]:
                return []
            case _:
                return [self._end()]

    def _end(self) -> EndTurn:
        gate = self._runtime.gate
        meta = {"peakPending": gate.peak if gate else 0}
        return EndTurn(TurnResult("cancelled" if self._cancelled else "end_turn", meta))


class _Numbers:
    """Numbered texts of one size, in reads of a connection."""

    def __init__(self, count: int, size: int) -> None:
        self._count = count
        self._size = size

    def open(self, cancel: CancelToken) -> Iterator[list[str]]:
        """Yield them all, as fast as they are taken, until somebody cancels."""
        size, at_once = self._size, max(1, READ // self._size)
        for start in range(0, self._count, at_once):
            if cancel.is_set():
                return
            numbers = range(start, min(start + at_once, self._count))
            yield [f"{n:08d} ".ljust(size, "x") for n in numbers]

    def render(self, texts: list[str]) -> Iterator[AgentMessageChunk]:
        """Make an update of each text."""
        return (AgentMessageChunk(text, "m1") for text in texts)


def main() -> int:
    """Serve until the client leaves."""
    runtime = StreamRuntime()
    ground = process_ground()
    # The only look inside: the peak is not part of any answer that users get.
    runtime.gate = ground.gate
    return Server(runtime, ground).run()


if __name__ == "__main__":
    sys.exit(main())
