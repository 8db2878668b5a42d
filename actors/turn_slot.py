"""One running turn as its actors share it: what must survive a crash of any of them.

Every event is noted before the machine hears it and every effect before it is performed, so an
executor that is started again goes on where the last one stopped and nothing is lost or done twice.
"""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from protocol.values import slotted

if TYPE_CHECKING:
    from actors.outlet import Outlet
    from actors.turn import CancelReason, TurnEffect, TurnEvent, TurnMachine, TurnResult
    from actors.work import AbortReason, StepEnd, StepHandle

TurnState: TypeAlias = Literal["queued", "running", "waiting", "cancelling", "ended"]
"""A turn's own state, apart from the wire: v2 of the protocol will show it, v1 shows its end."""


class TurnHost(Protocol):
    """Whom a turn works for: a client behind the protocol, or a person at a terminal."""

    def begin(self) -> TurnMachine:
        """Make the turn's machine; must not wait.

        Raises:
            ProtocolError: The turn can't start; the prompt is answered with it.

        """
        ...

    def put_question(self, slot: TurnSlot, key: str, method: str, params: dict[str, Any]) -> None:
        """Put a question to the client; must not wait."""
        ...

    def answer(self, result: TurnResult) -> None:
        """Give the turn's last word; called on the speaker thread, may wait at the gate."""
        ...


@slotted
class LiveStep:
    """A started step that its machine has not heard the end of."""

    step_id: str
    handle: StepHandle | None = None
    end: StepEnd | None = None
    """Set by whoever reaps it, before the executor is told."""
    aborted: AbortReason | None = None
    grace_s: float | None = None
    spared: bool = False
    timeout_at: float | None = None
    """Seconds on the monotonic clock."""


@slotted
class TurnSlot:
    """One turn from its start to its answer."""

    turn_id: str
    session_id: str
    host: TurnHost
    outlet: Outlet
    state: TurnState = "queued"
    machine: TurnMachine | None = None
    steps: dict[str, LiveStep] = field(default_factory=dict[str, LiveStep])
    calls: dict[str, None] = field(default_factory=dict[str, None])
    """Model calls that have not ended, in the order of their start."""
    cancel: CancelReason | None = None
    """The strongest cancel asked for so far; set before any actor is told."""
    cancel_told: CancelReason | None = None
    """The strongest one that the machine has heard."""
    result: TurnResult | None = None
    """Set when the machine ended the turn; from then on it hears nothing."""
    todo: deque[TurnEffect] = field(default_factory=deque["TurnEffect"])
    """Effects decided but not performed yet."""
    unheard: TurnEvent | None = None
    """The event that the machine is about to hear, or hears right now."""
    tries: int = 0
    """How often the first effect of ``todo`` was begun."""
    timers: dict[str, float] = field(default_factory=dict[str, float])
    """The machine's timers and when they are due, in monotonic seconds."""
    lost: deque[Any] = field(default_factory=deque[Any])
    """Messages that crashed the executor before they were handled."""
    machine_faults: int = 0

    def ask_cancel(self, reason: CancelReason) -> None:
        """Raise the cancel that is asked for; a weaker one changes nothing."""
        if self.cancel is None or _STRENGTH[reason] > _STRENGTH[self.cancel]:
            self.cancel = reason
        if self.state != "ended":
            self.state = "cancelling"


@slotted
class SessionDesk:
    """What the actors of one session share: the turn in hand, if any."""

    session_id: str
    slot: TurnSlot | None = None


_STRENGTH: dict[CancelReason, int] = {"client": 0, "shutdown": 1, "hard_stop": 2}
