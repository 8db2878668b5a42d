"""A tiny agent on the actor runtime, run as a process by tests: what it says is up to the prompt.

``echo TEXT`` answers the text; ``stream N SIZE`` streams N updates of SIZE characters from a step;
``hang`` runs a callable until it is cancelled; ``sh SCRIPT`` runs a shell; ``fail`` raises in the
machine; ``print`` writes to stdout behind our back.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from actors.runtime import OpenedSession
from actors.turn import (
    CancelAsked,
    EndTurn,
    MachineFailed,
    Say,
    StartStep,
    StepEnded,
    AbortStep,
    TurnResult,
    TurnStarted,
)
from actors.work import CallableWork, ProcessWork
from protocol.acp.updates import AgentMessageChunk, encode_update
from protocol.errors import InternalError
from protocol.handshake import AgentCapabilities, AgentInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from actors.turn import TurnEffect, TurnEvent
    from actors.work import WorkContext
    from protocol.acp.prompts import Prompt
    from protocol.handshake import InitializeParams


class EchoMachine:
    """One turn: one step, and whatever it prints."""

    def __init__(self, words: str, cwd: str) -> None:
        self._words = words
        self._cwd = cwd
        self._cancelled = False

    def handle(self, event: TurnEvent) -> Sequence[TurnEffect]:
        match event:
            case TurnStarted():
                return self._start()
            case CancelAsked():
                self._cancelled = True
                return [AbortStep("s1")]
            case StepEnded():
                return [EndTurn(TurnResult("cancelled" if self._cancelled else "end_turn"))]
            case MachineFailed():
                return [EndTurn(TurnResult(error=InternalError()))]
            case _:
                return []

    def _start(self) -> Sequence[TurnEffect]:
        verb, _, rest = self._words.partition(" ")
        match verb:
            case "echo":
                said = Say((AgentMessageChunk(rest, "m1"),))
                return [said, EndTurn(TurnResult())]
            case "stream":
                count, size = (int(word) for word in rest.split())
                work = CallableWork("stream", lambda context: stream(context, count, size))
            case "hang":
                work = CallableWork("hang", lambda context: context.cancel.wait(3600))
            case "print":
                work = CallableWork("print", lambda _: [print("noise"), os.system("echo noise")])  # noqa: S605,S607,T201
            case "sh":
                argv = ("/bin/sh", "-c", rest)
                return [StartStep("s1", ProcessWork(argv, self._cwd, dict(os.environ)), render)]
            case _:
                message = f"no such verb: {verb}"
                raise ValueError(message)
        return [StartStep("s1", work, render)]


def stream(context: WorkContext, count: int, size: int) -> None:
    text = "x" * size
    for _ in range(count):
        if context.cancel.is_set():
            return
        context.emit("stdout", text)


def render(stream_name: str, text: str) -> Iterable[Any]:
    del stream_name
    return (AgentMessageChunk(text, "m1"),)


class EchoRuntime:
    """Sessions are folders, turns are `EchoMachine`s."""

    turn_rule = "queue"
    methods = frozenset({"session/resume"})

    def agent_info(self) -> AgentInfo:
        return AgentInfo("echo", "0", "Echo")

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        del initialize
        return AgentCapabilities(resume=True)

    def warm_up(self) -> None:
        return

    def open_session(self, request: Any) -> OpenedSession:
        session_id = getattr(request, "session_id", None) or f"s{os.urandom(4).hex()}"
        return OpenedSession(session_id, request.cwd, {"sessionId": session_id})

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> EchoMachine:
        del turn_id
        return EchoMachine("".join(getattr(b, "text", "") for b in prompt.blocks), session.cwd)

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        return [encode_update(session_id, item) for item in items]


if __name__ == "__main__":
    from actors import signals
    from actors.serve import serve

    signals.end_at_once()
    code = serve(EchoRuntime())  # type: ignore[arg-type]
    os._exit(code)
    sys.exit(code)
