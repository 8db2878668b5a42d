"""An operator as a tree of actors: its own, and a session whose turns are the runs.

root (one_for_all, no restart)
    sessions: the actors of the runs, see `actors.session_tree`
    operator supervisor (one_for_one): operator

When the root gives up the process ends, and whoever keeps it alive starts it again: what was under
way is then told as interrupted, and everything else is on the ledger.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from pykka import ActorDeadError

from actors.address import Address
from actors.base import System, start
from actors.clock import Timers
from actors.faults import NoFaults
from actors.messages import Stop
from actors.outlet import Outlet
from actors.session_state import StartTurn, TurnEnded
from actors.session_tree import RESTARTS, SessionTree
from actors.step_executor import cancel_order
from actors.steps import RealSteps
from actors.supervisor import ChildSpec, Supervisor
from actors.telemetry import LoggedTelemetry
from actors.turn import TurnResult
from actors.turn_slot import TurnSlot
from ops.errors import OpsError
from protocol.errors import InternalError
from protocol.named_tuple import NamedTuple
from runtimes.chant.op_turn import OpTurn
from runtimes.chant.operator.actor import OperatorActor, OperatorDesk
from runtimes.chant.operator.run_log import LoggedRun
from runtimes.chant.operator.state import OperatorState, OpJudged, RunOver, StopAsked
from runtimes.chant.run_tasks import RunOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from actors.faults import Faults
    from actors.platform import Platform
    from actors.session_tree import SessionParts
    from actors.supervisor import SupervisorMessage
    from actors.telemetry import Telemetry
    from actors.turn import TurnMachine
    from actors.work import StepService
    from ops.cron import Cron
    from ops.waits import Wait
    from runtimes.chant.operator.actor import OperatorMessage
    from runtimes.chant.run_tasks import RunTasks


class Note(NamedTuple):
    """Why the thread that waits for the operator should look up."""

    kind: str
    number: int = 0


class Notes(Protocol):
    """What the waiting thread waits for: a `queue.SimpleQueue`, or a simulated one."""

    def put(self, note: Note, /) -> None:
        """Leave a note.  Never waits."""
        ...

    def get(self) -> Note:
        """Wait for the next one."""
        ...


class Orders(NamedTuple):
    """What an operator works with."""

    schedule: Mapping[str, Sequence[Cron]]
    once: bool
    tasks: Callable[[str], RunTasks]
    """Makes the tasks of one run of an Op."""
    judge: Callable[[str], Wait]
    """Looks whether an Op may run; may wait, raises `OpsError`."""
    tell: Callable[[str], None]


class Operated(NamedTuple):
    """How it ended: ``broken`` when the tree itself gave up."""

    last: Mapping[str, RunOver]
    waiting: Mapping[str, str]
    signal: int | None
    broken: bool


class Operator:
    """One operator from its start to its end.  The caller's thread waits in `run`."""

    def __init__(
        self,
        orders: Orders,
        platform: Platform,
        notes: Notes,
        faults: Faults | None = None,
        steps: StepService | None = None,
        *,
        telemetry: Telemetry | None = None,
    ) -> None:
        """Compose; nothing runs before `run`."""
        self._telemetry: Telemetry = telemetry or LoggedTelemetry()
        self._orders = orders
        self._notes = notes
        self._platform = platform
        self._faults: Faults = faults or NoFaults()
        self._timers = Timers(platform)
        self._system = System(platform, self._telemetry, self._faults, self._timers)
        self._steps = steps or RealSteps(platform, self._faults)
        self._address: Address[OperatorMessage] = self._named("operator")
        self._parts: SessionParts | None = None
        self._slot: TurnSlot | None = None
        self._turns = 0
        self.desk = OperatorDesk(OperatorState(orders.schedule, once=orders.once))

    def run(self) -> Operated:
        """Operate until it is done, or a note of kind ``signal`` or ``cancel`` asks it to end."""
        sessions: Address[SupervisorMessage] = self._named("sessions")
        top: Address[SupervisorMessage] = self._named("root")
        system = self._system
        self._parts = SessionTree(system, sessions, self._steps).parts("operator")
        above: Address[SupervisorMessage] = self._named("operator supervisor")
        own = (ChildSpec(self._address, self._actor),)

        def supervisor(
            address: Address[SupervisorMessage], children: tuple[ChildSpec, ...]
        ) -> ChildSpec:
            return ChildSpec(
                address, lambda: Supervisor(system, address, children, "one_for_one", RESTARTS)
            )

        specs = (supervisor(sessions, ()), supervisor(above, own))
        root = start(
            lambda: Supervisor(system, top, specs, "one_for_all", (0, 1.0)),
            lambda _reason: self._notes.put(Note("root down")),
        )
        top.bind(root)
        try:
            number, broken = self._wait()
        finally:
            with suppress(ActorDeadError):
                root.tell(Stop())
            self._steps.close()
            self._timers.close()
        state = self.desk.state
        return Operated(dict(state.last), dict(state.waiting), number, broken)

    def _wait(self) -> tuple[int | None, bool]:
        first: int | None = None
        while True:
            note = self._notes.get()
            match note.kind:
                case "finished":
                    return first, False
                case "root down":
                    return first, True
                case _:
                    self._address.tell(StopAsked(hard=first is not None))
                    first = note.number if first is None else first

    # --- what the actor has done for it

    def judge(self, op: str) -> OpJudged:
        """See `runtimes.chant.operator.actor.Hands`."""
        try:
            wait = self._orders.judge(op)
        except (OpsError, OSError) as error:
            return OpJudged(op, "failed", str(error))
        except Exception as error:  # noqa: BLE001 - told, so that the operator goes on
            return OpJudged(op, "failed", f"a fault of chant: {error!r}")
        return OpJudged(op, wait.state, wait.reason)

    def start_run(self, op: str) -> None:
        """See `Hands`."""
        if self._slot is not None:
            return
        parts = self._known_parts()
        self._turns += 1
        host = _RunHost(self, op)
        outlet = Outlet(self._platform, self._faults, LoggedRun().show, host.over)
        slot = self._slot = TurnSlot(f"t{self._turns}", "operator", host, outlet)
        parts.desk.slot = slot
        parts.session.tell(StartTurn(slot))

    def cancel_run(self, *, hard: bool) -> None:
        """See `Hands`."""
        if self._slot is not None:
            order = cancel_order(self._slot, "hard_stop" if hard else "shutdown")
            self._known_parts().session.tell(order)

    def tell(self, text: str) -> None:
        """See `Hands`."""
        self._orders.tell(text)

    def finished(self) -> None:
        """See `Hands`."""
        self._notes.put(Note("finished"))

    # --- what a run tells

    def result_in_hand(self) -> TurnResult | None:
        """Return how the run in hand has ended, None if that is not decided."""
        return self._slot.result if self._slot is not None else None

    def machine(self, op: str) -> TurnMachine:
        """Make the machine of a run."""
        return OpTurn(self._orders.tasks(op), self._platform, f"run-{self._turns}")

    def run_over(self, op: str, result: TurnResult) -> None:
        """Take the end of a run, on its speaker's thread."""
        slot, self._slot = self._slot, None
        if slot is not None:
            self._known_parts().session.tell(TurnEnded(slot.turn_id))
        self._address.tell(run_over(op, result))

    def _actor(self) -> OperatorActor:
        return OperatorActor(self._system, self._address, self.desk, self)

    def _known_parts(self) -> SessionParts:
        assert self._parts is not None  # noqa: S101 - made before anything runs
        return self._parts

    def _named(self, name: str) -> Address[Any]:
        return Address(name, self._platform, self._telemetry)


class _RunHost:
    """The operator as the host of one turn; see `actors.turn_slot.TurnHost`."""

    def __init__(self, operator: Operator, op: str) -> None:
        self._operator = operator
        self._op = op
        self._result = TurnResult(error=InternalError())

    def begin(self) -> TurnMachine:
        """Make the turn's machine."""
        return self._operator.machine(self._op)

    def put_question(self, slot: TurnSlot, key: str, method: str, params: dict[str, Any]) -> None:
        """Refuse: there is no client, and a machine here must not ask one."""
        del slot, params
        message = f"no client to send {method} ({key}) to"
        raise RuntimeError(message)

    def answer(self, result: TurnResult) -> None:
        """Keep the result."""
        self._result = result

    def over(self, problem: BaseException | None) -> None:
        """Report the end; a log that can't be written does not change how the run ended."""
        if problem is not None:
            self._operator.tell(f"what {self._op} said could not be logged in full: {problem}")
            slot_result = self._operator.result_in_hand()
            self._result = slot_result or self._result
        self._operator.run_over(self._op, self._result)


def run_over(op: str, result: TurnResult) -> RunOver:
    """Say how a run ended."""
    outcome = result.value
    if not isinstance(outcome, RunOutcome):
        return RunOver(op, "fail", reason="a fault of chant; the log has it")
    record = outcome.record
    if not record:
        return RunOver(op, "refused", reason=outcome.reason or "cancelled before it began")
    return RunOver(op, str(record["status"]), str(record["id"]), _reason(record))


def _reason(record: Mapping[str, Any]) -> str:
    if record["point"]:
        return f"question {record['point'].get('id')}"
    if record["gate"]:
        return f"gate {record['gate']['name']}"
    failure = record["failure"]
    return str(failure["error"]) if failure else ""
