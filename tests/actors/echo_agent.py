"""A tiny agent on the actor runtime, run as a process by tests: what it says is up to the prompt.

``echo TEXT`` answers the text; ``count TEXT`` its length; ``stream N SIZE`` streams N updates of
SIZE characters from a step; ``hang`` runs a callable until it is cancelled; ``sh SCRIPT`` runs a
shell; ``fail`` raises in the machine; ``noise`` writes to stdout behind our back; ``ask`` puts a
permission question.  Flags:
``--grace SECONDS`` for steps that are stopped; ``--fault POINT@N`` raises on the Nth time that the
fault point is reached, ``--fault POINT`` each time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from actors import signals
from actors.faults import NoFaults
from actors.opened_session import OpenedSession
from actors.serve import serve
from actors.turn import (
    AbortStep,
    AskClient,
    CancelAsked,
    ClientAnswered,
    EndTurn,
    MachineFailed,
    Say,
    StartStep,
    StepEnded,
    TurnResult,
    TurnStarted,
)
from actors.work import CallableWork, ProcessWork
from protocol.acp.cutting import cut_text
from protocol.acp.permissions import PermissionOption, parse_permission_outcome, permission_request
from protocol.acp.sessions import NewSession, ResumeSession, new_session_result
from protocol.acp.updates import AgentMessageChunk, ToolCall, ToolCallUpdate, encode_update
from protocol.errors import InternalError, InvalidParams
from protocol.handshake import AgentCapabilities, AgentInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from actors.faults import Verdict
    from actors.runtime import TurnRule
    from actors.turn import TurnEffect, TurnEvent
    from actors.work import Work, WorkContext
    from protocol.acp.prompts import Prompt
    from protocol.acp.sessions import LoadSession
    from protocol.handshake import InitializeParams

OPTIONS = (
    PermissionOption("yes", "Allow", "allow_once"),
    PermissionOption("no", "Reject", "reject_once"),
)


class EchoMachine:
    """One turn: one step, and whatever it prints."""

    def __init__(self, words: str, session: OpenedSession, turn_id: str, grace_s: float) -> None:
        self._words = words
        self._session = session
        self._turn_id = turn_id
        self._grace_s = grace_s
        self._cancelled = False

    def handle(self, event: TurnEvent) -> Sequence[TurnEffect]:
        match event:
            case TurnStarted():
                return self._start()
            case CancelAsked():
                return self._cancel()
            case StepEnded():
                return [EndTurn(TurnResult("cancelled" if self._cancelled else "end_turn"))]
            case ClientAnswered(_, answer, failed):
                return self._answered(None if failed else answer)
            case MachineFailed():
                return [EndTurn(TurnResult(error=InternalError()))]
            case _:
                return []

    def _start(self) -> Sequence[TurnEffect]:
        verb, _, rest = self._words.partition(" ")
        match verb:
            case "echo":
                return [self._say(rest), EndTurn(TurnResult())]
            case "count":
                return [self._say(str(len(rest))), EndTurn(TurnResult())]
            case "ask":
                return self._ask()
            case "stream":
                count, size = (int(word) for word in rest.split())
                work = CallableWork("stream", lambda context: stream(context, count, size))
                return self._step(work)
            case "hang":
                return self._step(CallableWork("hang", lambda context: context.cancel.wait(3600)))
            case "noise":
                return self._step(CallableWork("noise", make_noise))
            case "sh":
                argv = ("/bin/sh", "-c", rest)
                return self._step(ProcessWork(argv, self._session.cwd, dict(os.environ)))
            case _:
                message = f"no such verb: {verb}"
                raise ValueError(message)

    def _step(self, work: Work) -> Sequence[TurnEffect]:
        return [StartStep("s1", work, self._render, grace_s=self._grace_s)]

    def _ask(self) -> Sequence[TurnEffect]:
        call = f"{self._turn_id}-call"
        params = permission_request(
            self._session.session_id, ToolCallUpdate(tool_call_id=call), OPTIONS
        )
        opened = Say((ToolCall(tool_call_id=call, title="Ask"),))
        return [opened, AskClient("q", "session/request_permission", params)]

    def _answered(self, answer: object) -> Sequence[TurnEffect]:
        outcome = parse_permission_outcome(answer, [option.option_id for option in OPTIONS])
        return [*self._close_call(), self._say(repr(outcome)), EndTurn(TurnResult())]

    def _cancel(self) -> Sequence[TurnEffect]:
        self._cancelled = True
        if self._words == "ask":
            return [*self._close_call(), EndTurn(TurnResult("cancelled"))]
        return [AbortStep("s1")]

    def _close_call(self) -> Sequence[TurnEffect]:
        return [Say((ToolCallUpdate(tool_call_id=f"{self._turn_id}-call", status="completed"),))]

    def _say(self, text: str) -> Say:
        return Say(tuple(self._render("stdout", text)))

    def _render(self, stream_name: str, text: str) -> Iterable[Any]:
        del stream_name
        return [AgentMessageChunk(piece, self._turn_id) for piece in cut_text(text)]


def stream(context: WorkContext, count: int, size: int) -> None:
    """Each piece begins with its number, so that a reader sees a gap or a change of order."""
    for number in range(count):
        if context.cancel.is_set():
            return
        context.emit("stdout", f"{number:08d}".ljust(size, "x"))


def make_noise(context: WorkContext) -> None:
    del context
    print("noise from a print", flush=True)  # noqa: T201 - that is the point
    os.write(1, b"noise from a library\n")
    subprocess.run(["echo", "noise from a child"], check=True)


class RaiseAt(NoFaults):
    """A fault plan of one line: raise at a point, on its Nth time or always."""

    def __init__(self, plan: str) -> None:
        self._point, _, number = plan.partition("@")
        self._number = int(number or 0)
        self._seen = 0

    def at(self, name: str, who: str = "") -> Verdict:
        del who
        if name == self._point:
            self._seen += 1
            if self._number in {0, self._seen}:
                message = f"injected at {name}"
                raise RuntimeError(message)
        return "pass"


class EchoRuntime:
    """Sessions are folders, turns are `EchoMachine`s."""

    turn_rule: TurnRule = "queue"
    methods = frozenset({"session/resume"})

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s

    def agent_info(self) -> AgentInfo:
        return AgentInfo("echo", "0", "Echo")

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        del initialize
        return AgentCapabilities(resume=True)

    def warm_up(self) -> None:
        return

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        if not os.path.isdir(request.cwd):
            message = "cwd must be an existing directory"
            raise InvalidParams(message)
        if isinstance(request, NewSession):
            session_id = f"echo-{os.urandom(8).hex()}"
            return OpenedSession(session_id, request.cwd, new_session_result(session_id))
        return OpenedSession(request.session_id, request.cwd)

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> EchoMachine:
        words = "".join(getattr(block, "text", "") for block in prompt.blocks)
        return EchoMachine(words, session, turn_id, self._grace_s)

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        return [encode_update(session_id, item) for item in items]


def main() -> None:
    signals.end_at_once()
    flags = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    faults = RaiseAt(flags["--fault"]) if "--fault" in flags else None
    code = serve(EchoRuntime(float(flags.get("--grace", "2"))), faults)
    os._exit(code)  # as the console scripts do: no thread that waits keeps us alive


if __name__ == "__main__":
    main()
