"""A turn driven by hand: each thing that it starts ends when the test says so, on one thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from actors.model_call import ModelEnded
from actors.turn import (
    AbortCall,
    AbortStep,
    ArmTimer,
    AskClient,
    ClientAnswered,
    EndTurn,
    ModelSaid,
    Say,
    StartCall,
    StartStep,
    StepEnded,
)
from actors.turn import TurnStarted as Begin
from actors.work import CallableWork, StepEnd
from runtimes.models.base import (
    Finished,
    Message,
    ModelEvent,
    ModelRequest,
    Text,
    TextDelta,
    ToolCalled,
    ToolOutput,
    Usage,
)
from runtimes.models.config import ModelFacts, ProviderConfig
from runtimes.models.secrets import Secrets
from runtimes.radian.agent_turn import AgentTurn, TurnOutcome
from runtimes.radian.model_desk import ModelDesk
from runtimes.radian.permissions import Request
from runtimes.radian.policy import Policy
from runtimes.radian.records import Entry, UserMessage
from runtimes.radian.rules import Rules
from runtimes.radian.session_errors import JournalError
from runtimes.radian.tool_desk import ToolDesk
from runtimes.radian.tools.base import (
    Prepared,
    ToolContext,
    ToolOutcome,
    ToolRun,
    ToolView,
    returned,
)
from runtimes.radian.tools.subagent import SubagentTool
from runtimes.radian.turn_desk import TurnDesk
from runtimes.radian.turn_state import Limits
from tests.runtimes.radian.journals import TS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from actors.turn import TurnEffect, TurnEvent
    from runtimes.radian.asker import Asker
    from runtimes.radian.permissions import Action
    from runtimes.radian.records import Record
    from runtimes.radian.tools.base import Input, Kind, Tool

ANY: Any = None
UNLIMITED = Limits()
USAGE = Usage(10, 5)
MICROS = 15
"""What each call costs."""


@dataclass
class Look:
    """A tool that says what it was given; ``fetch`` is asked about."""

    name: str
    action: Action = "talk"
    read_only: bool = False
    kind: Kind = "other"
    summary: str = ""
    schema: Mapping[str, Any] = field(
        default_factory=lambda: {
            "type": "object",
            "properties": {"at": {"type": "string"}},
            "additionalProperties": False,
        }
    )

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        del context
        view = ToolView(str(values.get("at", "")))
        return Prepared(self.name, values, view, Request(self.name, self.action))

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        del call_id, context
        text = f"seen {prepared.view.title}"
        return ToolRun(CallableWork(self.name, lambda _: ToolOutcome(text)), returned)


@dataclass
class Book:
    """A journal in memory."""

    records: list[Record] = field(default_factory=list["Record"])
    full: bool = False

    def append(self, records: Sequence[Record], *, sync: bool) -> tuple[Entry, ...]:
        del sync
        if self.full:
            message = "no space left"
            raise JournalError(message)
        first = len(self.records) + 1
        self.records += records
        return tuple(Entry(seq, TS, record) for seq, record in enumerate(records, first))


class NoJobs:
    """Nothing runs in the background."""

    def news(self, turn: int | None = None, *, ends: bool = True) -> tuple[Record, ...]:
        del turn, ends
        return ()

    def recorded(self, entries: object) -> None:
        """Hear of nothing."""

    def take_back(self) -> None:
        """Have nothing."""


class NeverCancelled:
    """A token that nobody sets."""

    def is_set(self) -> bool:
        return False

    def wait(self, timeout_s: float) -> bool:
        del timeout_s
        return False

    def on_cancel(self, callback: Callable[[], None]) -> None:
        del callback


@dataclass
class Model:
    """Answers requests as ``answer`` says, and keeps them."""

    answer: Callable[[ModelRequest], list[ModelEvent]]
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])

    def stream(self, request: ModelRequest, cancel: Any) -> Iterator[ModelEvent]:
        del cancel
        self.requests.append(request)
        return iter(self.answer(request))


def says(text: str) -> list[ModelEvent]:
    """Return an answer."""
    return [TextDelta(text), USAGE, Finished("stop")]


def calls(*named: tuple[str, str]) -> list[ModelEvent]:
    """Return an answer that calls tools, each with its arguments; all ids are the same."""
    return [*(ToolCalled("c", *each) for each in named), USAGE, Finished("tools")]


def answers(messages: Sequence[Message]) -> int:
    """Count the answers in a conversation."""
    return sum(each.role == "assistant" for each in messages)


def first_text(request: ModelRequest) -> str:
    """Return what a conversation was asked."""
    return next(part.text for part in request.messages[0].parts if isinstance(part, Text))


def outputs(request: ModelRequest) -> list[str]:
    """Return the results in the last message."""
    return [each.text for each in request.messages[-1].parts if isinstance(each, ToolOutput)]


def desk_of(
    model: Model,
    limits: Limits = UNLIMITED,
    asker: Asker | None = None,
) -> TurnDesk:
    """Return what a turn needs, with the tools ``look``, ``fetch`` and ``subagent``."""
    facts = ModelFacts(price_input=Decimal(1), price_output=Decimal(1))
    tools: dict[str, Tool] = {
        each.name: each for each in (Look("look"), Look("fetch", "fetch"), SubagentTool())
    }
    context = ToolContext(ANY, "workspace", ANY, {}, "/out", ANY, ANY)
    policy = Policy("workspace", Rules(), asker=asker)
    book: Any = Book()
    jobs: Any = NoJobs()
    return TurnDesk(
        journal=book,
        entries=[],
        model=ModelDesk(
            ProviderConfig("p", "scripted", models={"m": facts}),
            "m",
            model,
            Secrets({}),
            "system",
            lambda: tuple(_offered(each) for each in tools.values()),
            None,
            lambda _image: None,
        ),
        tools=ToolDesk(tools, context, policy, lambda: 0.0, str),
        limits=limits,
        mask=str,
        monotonic=lambda: 0.0,
        jobs=jobs,
    )


def _offered(tool: Tool) -> Any:
    from runtimes.models.base import Tool as Offered

    return Offered(tool.name, tool.summary, tool.schema)


class Hands:
    """Performs what one turn wants; what it started ends by `end_one`."""

    def __init__(self, desk: TurnDesk, prompt: str = "go", turn: int = 1) -> None:
        self.desk = desk
        self.said: list[Any] = []
        self.ids: list[str] = []
        """Of all that was started or asked."""
        self.running: dict[str, StartStep | StartCall] = {}
        self.asked: dict[str, AskClient] = {}
        self.aborted: set[str] = set()
        self.outcome: TurnOutcome | None = None
        self.timers: list[str] = []
        self._machine = AgentTurn(desk, turn, "prompt", UserMessage(turn, (Text(prompt),)))
        self.feed(Begin())

    def feed(self, event: TurnEvent) -> None:
        """Tell the machine, and do what it wants."""
        for effect in self._machine.handle(event):
            self._perform(effect)

    def run(self, choose: Callable[[list[str]], str] = lambda names: names[0]) -> TurnOutcome:
        """End one thing after the other until the turn is over."""
        while self.outcome is None:
            self.end_one(choose(list(self.running)))
        return self.outcome

    def end_one(self, name: str) -> None:
        """End a step or a call of the model."""
        effect = self.running.pop(name)
        if isinstance(effect, StartCall):
            self._answer(effect)
            return
        assert isinstance(effect.work, CallableWork)
        if name in self.aborted:
            self.feed(StepEnded(StepEnd(name, "cancelled")))
        else:
            value = effect.work.run(ANY)
            self.feed(StepEnded(StepEnd(name, "returned", value=value)))

    def reply(self, key: str, answer: Any) -> None:
        """Answer a question."""
        del self.asked[key]
        self.feed(ClientAnswered(key, answer))

    def _answer(self, call: StartCall) -> None:
        if call.call_id in self.aborted:
            self.feed(ModelSaid(call.call_id, ModelEnded("cancelled")))
            return
        for event in call.request.open(NeverCancelled()):
            self.said += call.request.render(event)
            if call.request.tells(event):
                self.feed(ModelSaid(call.call_id, event))
        self.feed(ModelSaid(call.call_id, ModelEnded("done")))

    def _perform(self, effect: TurnEffect) -> None:
        assert self.outcome is None, "nothing comes after the end"
        match effect:
            case Say(items):
                assert items
                self.said += items
            case StartStep(step_id):
                self._begin(step_id)
                self.running[step_id] = effect
            case StartCall(call_id):
                self._begin(call_id)
                self.running[call_id] = effect
            case AbortStep(name) | AbortCall(name):
                self.aborted.add(name)
            case ArmTimer(key):
                self.timers.append(key)
            case AskClient(key):
                self._begin(key)
                self.asked[key] = effect
            case EndTurn(result):
                assert isinstance(result.value, TurnOutcome)
                self.outcome = result.value
            case _:
                pass

    def _begin(self, name: str) -> None:
        assert name not in self.ids
        self.ids.append(name)
