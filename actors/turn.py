"""One turn, as values: what a machine hears, what it may ask for, and how it ends.

A turn is driven by a `TurnMachine`.  It never waits and does no I/O: events go in, effects come
out, and the StepExecutorActor performs them.  chant's machine joins an Op's run to this, the
agent's machine its transcript.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.model_call import ModelRequest
    from actors.work import Render, StepEnd, Work
    from protocol.errors import ProtocolError

CancelReason: TypeAlias = Literal["client", "shutdown", "hard_stop"]


@frozen
class TurnStarted:
    """The first event of every turn."""


@frozen
class StepEnded:
    """A step that the machine started is over."""

    end: StepEnd


@frozen
class CancelAsked:
    """Stop: by the client, because the process is ending, or (hard_stop) without clean-up."""

    reason: CancelReason


@frozen
class TimerFired:
    """A timer that the machine armed, and did not drop or re-arm, is due."""

    key: str


@frozen
class ClientAnswered:
    """The client answered `AskClient`; ``answer`` is the raw result, or the error."""

    key: str
    answer: Any
    failed: bool = False


@frozen
class ModelSaid:
    """A piece of a model's stream, or its end; see `actors.model_call`."""

    call_id: str
    event: Any


@frozen
class MachineFailed:
    """The machine raised on an event, which it will not hear again.

    Its steps keep running and their ends follow.  It should fail the turn in its own orderly way;
    should it raise once more, the turn is ended without it.
    """


TurnEvent: TypeAlias = (
    TurnStarted | StepEnded | CancelAsked | TimerFired | ClientAnswered | ModelSaid | MachineFailed
)


@frozen
class StartStep:
    """Start ``work``.  Past ``timeout_s`` seconds it is aborted and ends as ``timed_out``.

    ``grace_s`` is what an aborted step gets between TERM and KILL; None takes the server's.
    ``spared``: a hard stop neither aborts nor kills it at once, so that what it keeps is kept.
    """

    step_id: str
    work: Work
    render: Render
    timeout_s: float | None = None
    grace_s: float | None = None
    spared: bool = False


@frozen
class AbortStep:
    """Stop a step of this turn.  Its `StepEnded` still follows."""

    step_id: str


@frozen
class StartCall:
    """Start a model call; `ModelSaid` follows."""

    call_id: str
    request: ModelRequest


@frozen
class AbortCall:
    """Stop a model call.  Its end still follows."""

    call_id: str


@frozen
class Say:
    """Hand items to the turn's outlet, in order, without waiting."""

    items: tuple[Any, ...]


@frozen
class ArmTimer:
    """`TimerFired` after ``delay_s`` seconds; arming a key again replaces it."""

    key: str
    delay_s: float


@frozen
class DropTimer:
    """Forget a timer."""

    key: str


@frozen
class AskClient:
    """Send a request of ours; `ClientAnswered` follows unless the turn ends first."""

    key: str
    method: str
    params: dict[str, Any]


@frozen
class EndTurn:
    """The machine's last effect.  ``result`` answers the prompt after all items were said."""

    result: TurnResult


@frozen
class TurnResult:
    """What a prompt is answered with: a stop reason and `_meta`, or an error."""

    stop_reason: str = "end_turn"
    meta: dict[str, Any] = field(default_factory=dict[str, Any])
    error: ProtocolError | None = None
    value: Any = None
    """For a host without a protocol (the command line): the run's record or a verb's outcome."""


TurnEffect: TypeAlias = (
    StartStep | AbortStep | StartCall | AbortCall | Say | ArmTimer | DropTimer | AskClient | EndTurn
)


class TurnMachine(Protocol):
    """Decides a turn.  Called by one thread at a time; may raise only by being wrong."""

    def handle(self, event: TurnEvent) -> Sequence[TurnEffect]:
        """Take one event and say what must happen, in order.  Nothing after `EndTurn`."""
        ...
