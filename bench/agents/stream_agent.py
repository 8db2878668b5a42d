"""A small agent on our own actor runtime: what a turn costs without anything behind it.

``stream N SIZE`` sends N updates of SIZE characters from a step, as a child's output would come: in
pipefuls, not one by one.  ``hang`` waits for a cancel, anything else ends at once.  The answer's
``_meta`` says how many messages were pending at the gate at the most.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from actors.opened_session import OpenedSession
from actors.serve import Server, process_ground
from actors.turn import (
    AbortStep,
    CancelAsked,
    EndTurn,
    StartStep,
    StepEnded,
    TurnResult,
    TurnStarted,
)
from actors.work import CallableWork
from protocol.acp.prompts import Text
from protocol.acp.sessions import new_session_result
from protocol.acp.updates import AgentMessageChunk, encode_updates
from protocol.handshake import AgentCapabilities, AgentInfo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from actors.gate import Gate
    from actors.turn import TurnEffect, TurnEvent
    from actors.work import Stream, WorkContext
    from protocol.acp.prompts import Prompt
    from protocol.acp.sessions import LoadSession, NewSession, ResumeSession
    from protocol.handshake import InitializeParams

PIPEFUL = 1 << 16
"""Characters that the step hands over at once: what one read of a full pipe brings."""


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
                return [self._end()] if self._words == ["hang"] else [AbortStep("stream")]
            case StepEnded():
                return [self._end()]
            case _:
                return []

    def _start(self) -> Sequence[TurnEffect]:
        match self._words:
            case ["stream", count, size]:
                step = _Numbers(int(count), int(size))
                return [StartStep("stream", CallableWork("stream", step.run), step.render)]
            case ["hang"]:
                return []
            case _:
                return [self._end()]

    def _end(self) -> EndTurn:
        gate = self._runtime.gate
        meta = {"peakPending": gate.peak if gate else 0}
        return EndTurn(TurnResult("cancelled" if self._cancelled else "end_turn", meta))


class _Numbers:
    """Numbered texts of one size, handed over in pipefuls and cut into updates again."""

    def __init__(self, count: int, size: int) -> None:
        self._count = count
        self._size = size

    def run(self, context: WorkContext) -> None:
        """Emit them all, as fast as they are taken, until somebody cancels."""
        size, at_once = self._size, max(1, PIPEFUL // self._size)
        for start in range(0, self._count, at_once):
            if context.cancel.is_set():
                return
            numbers = range(start, min(start + at_once, self._count))
            context.emit("stdout", "".join(f"{n:08d} ".ljust(size, "x") for n in numbers))

    def render(self, stream: Stream, text: str) -> Iterator[AgentMessageChunk]:
        """Make an update of each text."""
        for start in range(0, len(text), self._size):
            yield AgentMessageChunk(text[start : start + self._size], stream)


def main() -> int:
    """Serve until the client leaves."""
    runtime = StreamRuntime()
    ground = process_ground()
    # The only look inside: the peak is not part of any answer that users get.
    runtime.gate = ground.gate
    return Server(runtime, ground).run()


if __name__ == "__main__":
    sys.exit(main())
