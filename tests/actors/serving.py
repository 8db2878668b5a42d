"""A whole server in this process: a scripted runtime, pipes, and a client that keeps accounts."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from actors.base import System
from actors.clock import Timers
from actors.gate import Gate
from actors.model_call import ModelEnded, ModelRequest
from actors.opened_session import OpenedSession
from actors.real_platform import RealPlatform
from actors.serve import Ground, Note, Server
from actors.stdio import Sink, Source
from actors.steps import RealSteps
from actors.turn import (
    AbortCall,
    AbortStep,
    CancelAsked,
    EndTurn,
    MachineFailed,
    ModelSaid,
    Say,
    StartCall,
    StartStep,
    StepEnded,
    TurnResult,
    TurnStarted,
)
from actors.work import CallableWork
from protocol.acp.updates import AgentMessageChunk, encode_update
from protocol.errors import InternalError
from protocol.handshake import AgentCapabilities, AgentInfo
from tests.fakes import Running, Telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from actors.faults import Faults
    from actors.turn import TurnEffect, TurnEvent
    from actors.work import CancelToken, WorkContext
    from protocol.acp.prompts import Prompt
    from protocol.handshake import InitializeParams

WAIT_S = 20.0
SESSION = "s1"
FLOOD = 5_000
"""More prints than fit between a step and a client that does not read."""


class ScriptedMachine:
    """One turn of the kind that its prompt names; each item it says is numbered."""

    def __init__(self, kind: str, runtime: ScriptedRuntime) -> None:
        self._kind = kind
        self._runtime = runtime
        self._cancelled = False
        self._count = 0

    def handle(self, event: TurnEvent) -> Sequence[TurnEffect]:
        match event:
            case TurnStarted():
                return [self._say("begin"), *self._start()]
            case CancelAsked():
                self._cancelled = True
                return [AbortCall("c1") if self._kind == "model" else AbortStep("s1")]
            case StepEnded(end):
                return self._end(failed=end.kind not in {"returned", "cancelled"})
            case ModelSaid(_, ModelEnded(how)):
                return self._end(failed=how != "done" and not self._cancelled)
            case MachineFailed():
                return self._end(failed=True)
            case _:
                return []

    def _start(self) -> Sequence[TurnEffect]:
        self._runtime.begun.put(self._kind)
        match self._kind:
            case "step":
                return [StartStep("s1", CallableWork("step", self._emit), self._render)]
            case "flood":
                return [StartStep("s1", CallableWork("flood", self._flood), self._render)]
            case "hang":
                return [StartStep("s1", CallableWork("hang", self._hang), self._render)]
            case "model":
                return [StartCall("c1", ModelRequest(self._stream, self._render_event))]
            case _:
                message = "a bug"
                raise ValueError(message)

    def _end(self, *, failed: bool) -> Sequence[TurnEffect]:
        result = TurnResult("cancelled" if self._cancelled else "end_turn")
        if failed:
            result = TurnResult(error=InternalError())
        return [self._say("end"), EndTurn(result)]

    def _say(self, word: str) -> Say:
        return Say((self._item(word),))

    def _item(self, word: str) -> AgentMessageChunk:
        self._count += 1
        return AgentMessageChunk(f"{word} {self._count}", self._kind)

    def _emit(self, context: WorkContext) -> None:
        for number in range(5):
            context.emit("stdout", f"line {number}\n")

    def _flood(self, context: WorkContext) -> None:
        while not context.cancel.is_set():
            context.emit("stdout", "drop " * 200 + "\n")
            self._runtime.drops += 1

    def _hang(self, context: WorkContext) -> None:
        context.emit("stdout", "hanging\n")
        context.cancel.wait(WAIT_S)

    def _render(self, stream: str, text: str) -> Iterable[Any]:
        del stream
        return (self._item(text.strip()),)

    def _stream(self, cancel: CancelToken) -> Iterable[int]:
        for number in range(5):
            if cancel.is_set():
                return
            yield number

    def _render_event(self, event: int) -> Iterable[Any]:
        return (self._item(f"piece {event}"),)


class ScriptedRuntime:
    """Sessions cost nothing; prompts name what to do."""

    turn_rule = "queue"
    methods = frozenset({"session/resume", "session/load"})

    def __init__(self) -> None:
        self.begun: queue.Queue[str] = queue.Queue()
        self.drops = 0
        """How often a flood has printed."""

    def agent_info(self) -> AgentInfo:
        return AgentInfo("scripted", "0")

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        del initialize
        return AgentCapabilities(load_session=True, resume=True)

    def warm_up(self) -> None:
        """Nothing is slow here."""

    def open_session(self, request: Any) -> OpenedSession:
        session_id = getattr(request, "session_id", SESSION)
        replay = (AgentMessageChunk("before 1", "replay"),)
        return OpenedSession(session_id, request.cwd, {"sessionId": session_id}, before=replay)

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> ScriptedMachine:
        del session, turn_id
        text = "".join(getattr(block, "text", "") for block in prompt.blocks)
        if text.startswith("unbegun"):
            message = "a bug"
            raise ValueError(message)
        return ScriptedMachine(text, self)

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        return [encode_update(session_id, item) for item in items]


class _Accepted(deque[bytes]):
    """The gate's queue, which also remembers what it ever took."""

    def __init__(self) -> None:
        super().__init__()
        self.ever: list[bytes] = []

    def extend(self, frames: Iterable[bytes]) -> None:
        frames = list(frames)
        self.ever += frames
        super().extend(frames)


class Client:
    """Both ends of a served connection, and everything that came out of it."""

    def __init__(self, faults: Faults, runtime: ScriptedRuntime | None = None) -> None:
        self.runtime = runtime or ScriptedRuntime()
        self.telemetry = Telemetry()
        self._changed = threading.Condition()
        self.output = b""
        self.messages: list[dict[str, Any]] = []
        self._open = True
        self._reading = threading.Event()
        self._reading.set()
        self._last_id = -1
        self._kinds: dict[int, str] = {}
        requests_out, self._requests = os.pipe()
        self._answers, answers_in = os.pipe()
        self._fds = [requests_out, self._answers, answers_in]
        platform = RealPlatform()
        self._system = System(platform, self.telemetry, faults, Timers(platform))
        self.steps = RealSteps(platform, faults)
        self.gate = Gate(platform, faults)
        self._accepted = self.gate._queue = _Accepted()
        source, sink = Source(requests_out, faults), Sink(answers_in, faults)
        # The sink's own description would keep the pipe open behind our back.
        self._fds += [sink._fd] if sink._fd != answers_in else []
        self._bells = [source._bell, sink._bell]
        notes: queue.SimpleQueue[Note] = queue.SimpleQueue()
        self.settled = threading.Event()
        """Set once the server has made ready for its first prompt, or given up."""
        ground = Ground(
            self._system, source, sink, notes, lambda: self.steps, self.gate, self.settled.set
        )
        server = Server(self.runtime, ground)  # type: ignore[arg-type]  # turn_rule is read only
        self.server = Running(self._serve(server))
        self._reader = Running(self._read)

    def _serve(self, server: Server) -> Callable[[], int]:
        def run() -> int:
            try:
                return server.run()
            finally:
                with self._changed:
                    self._open = False
                    self._changed.notify_all()

        return run

    # --- what the client does

    def send(self, *lines: dict[str, Any]) -> None:
        """Send messages in one write."""
        text = b"".join(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in lines)
        os.write(self._requests, text)

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Make a request with an id of its own, without sending it."""
        self._last_id += 1
        return {"id": self._last_id, "method": method, "params": params}

    def prompt(self, kind: str) -> dict[str, Any]:
        block = {"type": "text", "text": kind}
        request = self.request("session/prompt", sessionId=SESSION, prompt=[block])
        self._kinds[request["id"]] = kind
        return request

    def kind(self, request: dict[str, Any]) -> str:
        """Tell what a prompt asked for; empty for other requests."""
        return self._kinds.get(request["id"], "")

    def cancel(self) -> dict[str, Any]:
        return {"method": "session/cancel", "params": {"sessionId": SESSION}}

    def begin(self) -> list[dict[str, Any]]:
        """Make the requests that come before any prompt."""
        load = self.request("session/load", sessionId=SESSION, cwd="/tmp", mcpServers=[])
        self._kinds[load["id"]] = "replay"
        return [self.request("initialize", protocolVersion=1), load]

    def pause(self) -> None:
        """Stop reading what comes out."""
        self._reading.clear()

    def resume(self) -> None:
        """Read on."""
        self._reading.set()

    def wait_flooded(self, request: dict[str, Any]) -> None:
        """Wait until a flood waits for room, has nobody left to wait for, or has no turn."""
        self._wait(
            lambda: (
                self.gate.waiting > 0
                or self.runtime.drops > FLOOD
                or any(json.loads(f).get("id") == request["id"] for f in self._accepted.ever[:200])
            ),
            "a full gate",
        )

    def wait_begun(self, kind: str, request: dict[str, Any]) -> None:
        """Wait until the turn has begun, or was answered before it could."""
        self._wait(
            lambda: kind in self.runtime.begun.queue or bool(self.answers(request["id"])),
            f"a turn {kind}",
        )

    def answer(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Wait for the answer; None when the connection is over without one."""
        self._wait(lambda: bool(self.answers(request["id"])), f"the answer to {request}")
        found = self.answers(request["id"])
        return found[0] if found else None

    def answers(self, request_id: int) -> list[dict[str, Any]]:
        return [m for m in tuple(self.messages) if m.get("id") == request_id and "method" not in m]

    def leave(self) -> int:
        """End the input, wait for the server's end, and return its exit code."""
        os.close(self._requests)
        code = self.server.result(WAIT_S)
        for fd in self._fds[2:]:
            os.close(fd)
        self._reader.error()
        for bell in self._bells:
            os.close(bell.fd)
            os.close(bell.ring_fd)
        for fd in self._fds[:2]:
            os.close(fd)
        self._system.timers.close()
        return code

    @property
    def open(self) -> bool:
        return self._open

    # --- what must hold

    def check(self) -> None:
        """Look at what came out against what was accepted."""
        accepted = b"".join(self._accepted.ever)
        assert accepted.startswith(self.output)
        whole = self.output[: self.output.rfind(b"\n") + 1]
        assert self.output == whole or not self.gate.pending  # cut only where the end came
        assert self.gate.peak <= 64
        assert not self.steps._live
        ids = [m["id"] for m in self.messages if "method" not in m]
        assert len(ids) == len(set(ids)), f"answered twice: {ids}"
        self._check_turns()

    def _check_turns(self) -> None:
        """Updates come once each, in order, none after their turn's answer; good turns lose none.

        Every item has a number, and the turn's kind in place of a message id.
        """
        heard: dict[str, list[int]] = {}
        answered: set[str] = set()
        for message in self.messages:
            if message.get("method") == "session/update":
                update = message["params"]["update"]
                number = int(update["content"]["text"].split()[-1])
                heard.setdefault(update["messageId"], []).append(number)
                assert len(heard) == 1, f"two turns at once: {heard}"
                assert update["messageId"] not in answered, "an update after its answer"
                continue
            kind = self._kinds.get(message["id"], "")
            answered.add(kind)
            numbers = heard.pop(kind, [])
            assert numbers == sorted(set(numbers)), f"twice or out of order: {numbers}"
            assert "error" in message or numbers == list(range(1, len(numbers) + 1)), "lost some"

    # --- inside

    def _read(self) -> None:
        while self._reading.wait(WAIT_S) and (data := os.read(self._answers, 65_536)):
            with self._changed:
                self.output += data
                *lines, _ = self.output.split(b"\n")
                self.messages = [json.loads(line) for line in lines]
                self._changed.notify_all()

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        # A turn begins without a word to us, so look again now and then.
        for _ in range(int(WAIT_S * 100)):
            with self._changed:
                if self._changed.wait_for(lambda: condition() or not self._open, 0.01):
                    return
        message = f"no {what}: {self.messages}, {self.telemetry.events}"
        raise TimeoutError(message)
