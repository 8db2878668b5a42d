"""A product for simulations: a prompt is a list of things to do, one after another.

``TAG; say 3; run takes=1 prints=2; work 0.5; call chunks=4 pause=0.1; ask; wait 2; raise``: the tag
names the turn in everything it says.  What it was told to ``leave`` still runs when it ends.
``listen 0.5 chunks=4 pause=0.5`` is a call that is given up when it is silent for so long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.model_call import ModelEnded
from actors.opened_session import OpenedSession
from actors.simulation.model import StreamScript, simulated_request
from actors.simulation.process import GRACE_S
from actors.turn import (
    AbortCall,
    AbortStep,
    ArmTimer,
    AskClient,
    CancelAsked,
    ClientAnswered,
    DropTimer,
    EndTurn,
    MachineFailed,
    ModelSaid,
    Say,
    StartCall,
    StartStep,
    StepEnded,
    TimerFired,
    TurnResult,
    TurnStarted,
)
from actors.work import CallableWork, ProcessWork
from protocol.acp.permissions import PermissionOption, permission_request
from protocol.acp.sessions import NewSession, new_session_result
from protocol.acp.updates import AgentMessageChunk, ToolCallUpdate, encode_update
from protocol.errors import InternalError
from protocol.handshake import AgentCapabilities, AgentInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.runtime import TurnRule
    from actors.simulation.book import Book
    from actors.simulation.platform import SimPlatform
    from actors.turn import TurnEffect, TurnEvent
    from actors.work import WorkContext
    from protocol.acp.prompts import Prompt
    from protocol.acp.sessions import LoadSession, ResumeSession
    from protocol.handshake import InitializeParams

SILENCE = "silence of "
"""Begins the key of the timer that gives a call up."""
OPTIONS = (PermissionOption("yes", "Allow", "allow_once"),)


class ProbeTurn:
    """The machine of one such prompt."""

    def __init__(
        self, text: str, session_id: str, number: str, platform: SimPlatform, book: Book
    ) -> None:
        """Read ``text``."""
        self._tag, *self._todo = [each.strip() for each in text.split(";")]
        self._session_id = session_id
        self._number = number
        self._platform = platform
        self._book = book
        self._done = 0
        self._waits_for = self._verb = ""
        self._cancelled = False
        self._failed = False
        self._went_wrong = False
        self._due: dict[str, float] = {}
        """By key of a timer: before this second it must not fire."""
        self._patience_s = 0.0

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """See `actors.turn.TurnMachine.handle`."""
        match event:
            case TurnStarted():
                return self._go_on()
            case CancelAsked():
                return self._cancel()
            case MachineFailed():
                self._failed = True
                return self._stop()
            case StepEnded(end) if end.step_id == self._waits_for:
                self._went_wrong |= end.kind not in {"exited", "returned"}
                return self._go_on()
            case ModelSaid(call_id, said) if call_id == self._waits_for:
                return self._model_said(said)
            case TimerFired(key):
                return self._timer_fired(key)
            case ClientAnswered(key) if key == self._waits_for:
                return self._go_on()
            case _:
                return []

    def _model_said(self, said: Any) -> list[TurnEffect]:
        silence = SILENCE + self._waits_for
        if isinstance(said, ModelEnded):
            self._went_wrong |= said.how != "done"
            dropped: list[TurnEffect] = [DropTimer(silence)] if silence in self._due else []
            return [*dropped, *self._go_on()]
        # Armed again under its key, perhaps while the tick of the last time is on its way.
        return [self._timer(silence, self._patience_s)] if silence in self._due else []

    def _timer_fired(self, key: str) -> list[TurnEffect]:
        early_s = self._due.get(key, 0.0) - self._platform.monotonic()
        if early_s > 0:
            self._book.violated("time", f"timer {key} of {self._tag} fired {early_s:g} s early")
        if key == SILENCE + self._waits_for:
            return [AbortCall(self._waits_for)]
        return self._go_on() if key == self._waits_for else []

    def _timer(self, key: str, delay_s: float) -> ArmTimer:
        self._due[key] = self._platform.monotonic() + delay_s
        return ArmTimer(key, delay_s)

    def _go_on(self) -> list[TurnEffect]:
        effects: list[TurnEffect] = []
        self._waits_for = ""
        while not self._waits_for:
            if self._failed:
                return [*effects, EndTurn(TurnResult(error=InternalError()))]
            if self._cancelled:
                return [*effects, EndTurn(TurnResult("cancelled"))]
            if not self._todo:
                reason = "refusal" if self._went_wrong else "end_turn"
                return [*effects, EndTurn(TurnResult(reason))]
            verb, _, rest = self._todo.pop(0).partition(" ")
            effects += self._do(verb, rest)
        return effects

    def _do(self, verb: str, rest: str) -> list[TurnEffect]:
        self._done += 1
        key = f"{self._number}-{self._done}"
        if verb == "say":
            return self._say(key, int(rest))
        if verb == "leave":
            return [self._program(rest, key)]
        if verb == "raise":
            message = "the machine raises, as the prompt says"
            raise RuntimeError(message)
        self._waits_for, self._verb = key, verb
        return self._start(verb, rest, key)

    def _start(self, verb: str, rest: str, key: str) -> list[TurnEffect]:
        match verb:
            case "run":
                return [self._program(rest, key)]
            case "work":
                seconds = float(rest)
                return [StartStep(key, self._work(key, seconds), self._renderer(key))]
            case "call":
                return [StartCall(key, self._call(key, rest))]
            case "listen":
                patience, _, script = rest.partition(" ")
                self._patience_s = float(patience)
                silence = self._timer(SILENCE + key, self._patience_s)
                return [StartCall(key, self._call(key, script)), silence]
            case "ask":
                params = permission_request(
                    self._session_id, ToolCallUpdate(tool_call_id=key), OPTIONS
                )
                return [AskClient(key, "session/request_permission", params)]
            case _:
                return [self._timer(key, float(rest))]

    def _program(self, script: str, key: str) -> StartStep:
        work = ProcessWork(("program", script), "/", {"SIM_TAG": self._tag})
        return StartStep(key, work, self._renderer(key), grace_s=GRACE_S)

    def _say(self, key: str, count: int) -> list[TurnEffect]:
        render = self._renderer(key)
        texts = [f"{number} " for number in range(count)]
        for text in texts:
            self._book.say(self._message_id(key), text)
        return [Say(tuple(item for text in texts for item in render("stdout", text)))]

    def _work(self, key: str, seconds: float) -> CallableWork:
        def run(context: WorkContext) -> None:
            for number in range(3):
                if context.cancel.wait(seconds / 3):
                    return
                self._book.say(self._message_id(key), f"w{number} ")
                context.emit("stdout", f"w{number} ")

        return CallableWork(f"work-{key}", run)

    def _call(self, key: str, rest: str) -> Any:
        given = dict(word.split("=") for word in rest.split())
        script = StreamScript(
            **{name: type(StreamScript._field_defaults[name])(v) for name, v in given.items()}
        )
        render = self._renderer(key)

        def show(text: Any) -> Sequence[Any]:
            self._book.say(self._message_id(key), text)
            return render("stdout", text)

        return simulated_request(script, self._platform, self._book, self._tag, show)

    def _message_id(self, key: str) -> str:
        return f"{self._tag}/{key}/stdout"

    def _renderer(self, key: str) -> Callable[[str, str], tuple[AgentMessageChunk, ...]]:
        message_id = self._message_id(key)

        def render(stream: str, text: str) -> tuple[AgentMessageChunk, ...]:
            del stream
            return (AgentMessageChunk(text, message_id),)

        return render

    def _cancel(self) -> list[TurnEffect]:
        if self._cancelled:
            return []
        self._cancelled = True
        return self._stop()

    def _stop(self) -> list[TurnEffect]:
        """Abort what runs and wait for its end; what has none to wait for ends here."""
        key = self._waits_for
        if key and self._verb in {"run", "work"}:
            return [AbortStep(key)]
        if key and self._verb in {"call", "listen"}:
            return [AbortCall(key)]
        return self._go_on()


class ProbeRuntime:
    """See `actors.runtime.Runtime`."""

    turn_rule: TurnRule = "queue"
    methods = frozenset({"session/resume"})

    def __init__(self, platform: SimPlatform, book: Book) -> None:
        """Serve in one world."""
        self._platform = platform
        self._book = book

    def agent_info(self) -> AgentInfo:
        """Name ourselves."""
        return AgentInfo("probe", "0", "Probe")

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        """Offer the baseline."""
        del initialize
        return AgentCapabilities(resume=True)

    def warm_up(self) -> None:
        """Have all that is needed."""

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        """Open any session."""
        if isinstance(request, NewSession):
            session_id = f"probe-{self._platform.entropy(4).hex()}"
            return OpenedSession(session_id, request.cwd, new_session_result(session_id))
        return OpenedSession(request.session_id, request.cwd)

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> ProbeTurn:
        """Read the prompt."""
        text = "".join(getattr(block, "text", "") for block in prompt.blocks)
        return ProbeTurn(text, session.session_id, turn_id, self._platform, self._book)

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        """Turn updates into lines."""
        return [encode_update(session_id, item) for item in items]
