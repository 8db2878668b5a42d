"""One turn without a protocol: for the command line, on the same actors that a client gets.

The first SIGINT cancels, the second stops hard; SIGTERM and SIGHUP cancel as an end of the process.
"""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from pykka import ActorDeadError

from actors import signals
from actors.address import Address
from actors.base import System, start
from actors.clock import Timers
from actors.faults import NoFaults
from actors.messages import Stop
from actors.notes import SignalNotes
from actors.outlet import Outlet
from actors.real_platform import RealPlatform
from actors.session_state import StartTurn, TurnEnded
from actors.session_tree import RESTARTS, SessionTree
from actors.step_executor import cancel_order
from actors.steps import RealSteps
from actors.supervisor import Supervisor
from actors.telemetry import LoggedTelemetry
from actors.turn import TurnResult
from actors.turn_slot import TurnSlot
from protocol.errors import InternalError
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.session_tree import SessionParts
    from actors.supervisor import SupervisorMessage
    from actors.turn import CancelReason, TurnMachine


class LocalResult(NamedTuple):
    """How a turn ended, and which signals came until others hear them, in their order."""

    turn: TurnResult
    signals: list[int]

    @property
    def signal(self) -> int | None:
        """The signal that the process's exit code tells, if one came."""
        return signals.telling(self.signals)


class Hurry(Protocol):
    """Tells what shows a turn that the process is to end."""

    def __call__(self, *, hard: bool) -> None:
        """Wait no longer for a reader that takes nothing.  Must not wait itself."""
        ...


class _Note(NamedTuple):
    """What the main thread must look at."""

    kind: str
    signal: int = 0


class _LocalHost:
    """Works for whoever called `run_turn`."""

    def __init__(self, machine: TurnMachine, notes: SignalNotes[_Note]) -> None:
        self._machine = machine
        self._notes = notes
        self.result = TurnResult(error=InternalError())

    def begin(self) -> TurnMachine:
        """Hand out the machine that the caller made."""
        return self._machine

    def put_question(self, slot: TurnSlot, key: str, method: str, params: dict[str, Any]) -> None:
        """Refuse: there is no client, and a machine for the command line must not ask one."""
        del slot, params
        message = f"no client to send {method} ({key}) to"
        raise RuntimeError(message)

    def answer(self, result: TurnResult) -> None:
        """Keep the result for the caller."""
        self.result = result

    def over(self, problem: BaseException | None) -> None:
        """Let the main thread go on."""
        if problem is not None:
            self.result = TurnResult(error=InternalError())
        self._notes.put(_Note("over"))


def run_turn(
    machine: TurnMachine,
    deliver: Callable[[Sequence[Any]], None],
    *,
    cancel_when_unheard: bool = False,
    hurry: Hurry | None = None,
) -> LocalResult:
    """Run one turn to its end on the main thread.

    Args:
        machine: What decides the turn.
        deliver: Gets its items in order, on one other thread; may wait.  What it raises ends the
            showing but not the turn.
        cancel_when_unheard: It cancels the turn as well, which goes on to its own end.
        hurry: Called on the main thread when a signal says that the process is to end, ``hard``
            at the second one; ``deliver`` must not wait for long from then on.

    """
    notes: SignalNotes[_Note] = SignalNotes()
    heard: list[int] = []

    def hear(number: int) -> None:
        heard.append(number)
        notes.put(_Note("signal", number))

    signals.note(hear)
    platform, faults = RealPlatform(), NoFaults()
    system = System(platform, LoggedTelemetry(), faults, Timers(platform))
    steps = RealSteps(platform, faults)
    sessions: Address[SupervisorMessage] = Address("sessions", platform, system.telemetry)
    root = start(
        lambda: Supervisor(system, sessions, (), "one_for_one", RESTARTS),
        lambda _reason: notes.put(_Note("root down")),
    )
    sessions.bind(root)
    parts = SessionTree(system, sessions, steps).parts("local")
    host = _LocalHost(machine, notes)
    broken = (lambda: notes.put(_Note("unheard"))) if cancel_when_unheard else None
    outlet = Outlet(platform, faults, deliver, host.over, broken)
    slot = TurnSlot("t1", "local", host, outlet)
    parts.desk.slot = slot
    parts.session.tell(StartTurn(slot))
    try:
        _wait(notes, slot, parts, hurry)
    finally:
        parts.session.tell(TurnEnded(slot.turn_id))
        with suppress(ActorDeadError):
            root.tell(Stop())
        steps.close()
    return LocalResult(host.result, heard)


def _wait(
    notes: SignalNotes[_Note], slot: TurnSlot, parts: SessionParts, hurry: Hurry | None
) -> None:
    """Wait for the turn's end, passing signals on as cancels."""
    hard = False
    while (note := notes.get()).kind in {"signal", "unheard"}:
        if note.kind == "unheard":
            parts.session.tell(cancel_order(slot, "client"))
            continue
        reason: CancelReason = "client" if note.signal == signal.SIGINT else "shutdown"
        if hard:
            reason = "hard_stop"
        if hurry is not None and reason != "client":
            hurry(hard=hard)
        hard = True
        parts.session.tell(cancel_order(slot, reason))
