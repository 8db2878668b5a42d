"""OperatorActor: performs what `OperatorState` decides.  Never waits: git and runs are elsewhere.

The state and what is still to be performed outlive a crash, so the next incarnation goes on.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from actors.base import Actor
from actors.faults import point
from actors.messages import Tick
from runtimes.chant.operator.state import (
    CancelRun,
    Finish,
    JudgeOp,
    Nap,
    OperatorEffect,
    OpJudged,
    RunOver,
    StartRun,
    StopAsked,
    Tell,
    Woken,
)

if TYPE_CHECKING:
    from actors.address import Address
    from actors.base import System
    from runtimes.chant.operator.state import OperatorState

NAP = "nap"
MAX_TRIES = 2
"""How often an effect may crash us before it is dropped."""

BEFORE_JUDGE = point("operator.judge", "the operator is about to look whether an Op may run")

OperatorMessage: TypeAlias = OpJudged | RunOver | StopAsked | Tick


class Hands(Protocol):
    """What the actor has done for it.  None of it waits, but for `judge`."""

    def judge(self, op: str) -> OpJudged:
        """Look whether an Op may run.  Called on a leaf thread; raises nothing."""
        ...

    def start_run(self, op: str) -> None:
        """Start a run, unless it was started already; the actor is told its end."""
        ...

    def cancel_run(self, *, hard: bool) -> None:
        """Cancel the run that goes on, if one does."""
        ...

    def tell(self, text: str) -> None:
        """Write a line for people."""
        ...

    def finished(self) -> None:
        """Hear that the operator is done."""
        ...


@dataclass(slots=True)
class OperatorDesk:
    """What the incarnations of one operator share."""

    state: OperatorState
    todo: deque[OperatorEffect] = field(default_factory=deque[OperatorEffect])
    tries: int = 0


class OperatorActor(Actor[OperatorMessage]):
    """Hears of time, judgements and ends of runs."""

    def __init__(
        self,
        system: System,
        address: Address[OperatorMessage],
        desk: OperatorDesk,
        hands: Hands,
    ) -> None:
        """Go on with what lies on ``desk``."""
        super().__init__(system, address)
        self._desk = desk
        self._hands = hands
        self._in_hand: OperatorMessage | None = None
        self._noted: OperatorMessage | None = None
        """The last message that the state has heard: what came of it lies on the desk."""

    def started(self) -> None:
        """Begin, or do what an earlier incarnation left undone, and look at the clock again."""
        desk = self._desk
        desk.tries += bool(desk.todo)
        if desk.tries > MAX_TRIES:
            desk.tries = 0
            self._give_up(desk.todo.popleft())
        self._perform()
        self._hear(Woken())

    def receive(self, message: OperatorMessage) -> None:
        """Take one message."""
        self._in_hand = message
        self._hear(Woken() if isinstance(message, Tick) else message)

    def last_words(self, message: OperatorMessage) -> None:
        """Leave a message to the next incarnation that did not reach the state."""
        if message is not self._noted and not isinstance(message, Tick):
            self.keep(message)

    def _hear(self, event: Woken | OpJudged | RunOver | StopAsked) -> None:
        effects = self._desk.state.handle(event, self.system.platform.wall())
        self._desk.todo.extend(effects)
        self._noted = self._in_hand
        self._perform()

    def _perform(self) -> None:
        todo = self._desk.todo
        while todo:
            self._do(todo[0])
            todo.popleft()
            self._desk.tries = 0

    def _give_up(self, effect: OperatorEffect) -> None:
        """Drop what crashed us each time; the state hears what came of it."""
        why = "the operator crashed each time it tried"
        match effect:
            case JudgeOp(op):
                self._hear(OpJudged(op, "failed", why))
            case StartRun(op):
                self._hear(RunOver(op, "fail", reason=why))
            case _:
                pass

    def _do(self, effect: OperatorEffect) -> None:
        match effect:
            case JudgeOp(op):
                self.system.faults.at(BEFORE_JUDGE, op)
                self.system.platform.spawn(f"judge {op}", lambda: self._judge(op))
            case StartRun(op):
                self._hands.start_run(op)
            case CancelRun(hard):
                self._hands.cancel_run(hard=hard)
            case Nap(delay_s):
                self.arm_timer(NAP, delay_s)
            case Tell(text):
                self._hands.tell(text)
            case Finish():
                self._hands.finished()

    def _judge(self, op: str) -> None:
        self.address.tell(self._hands.judge(op))
