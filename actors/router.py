"""RouterActor: one connection's messages, sessions and order of turns.  Never waits.

Decisions are the `Switchboard`'s.  Message and effects in hand live in the `RouterState`, so that a
router that is started again goes on where the last one stopped.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from actors.base import Actor
from actors.messages import (
    CancelRead,
    EndTurns,
    Incoming,
    SessionAnswered,
    SessionOpened,
    SessionRefused,
    TurnAnswered,
    TurnWished,
)
from actors.switchboard import (
    AllOver,
    Answer,
    Begin,
    Cancel,
    Connect,
    GiveAnswer,
    Initialize,
    Open,
    Switchboard,
    TellCancelled,
)
from protocol.errors import InternalError
from protocol.handshake import initialize_result
from protocol.jsonrpc import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.address import Address
    from actors.base import System
    from actors.connection import Connection
    from actors.messages import RouterMessage
    from actors.runtime import Runtime
    from actors.session_tree import SessionTree
    from actors.switchboard import Effect
    from actors.turn import CancelReason
    from actors.turn_line import Turn
    from actors.turn_slot import TurnSlot


class RouterState:
    """What outlives a crash of the router."""

    def __init__(self, switchboard: Switchboard) -> None:
        """Start with nothing in hand."""
        self.switchboard = switchboard
        self.todo: deque[Effect] = deque()
        self.performing: Effect | None = None
        self.lost: deque[RouterMessage] = deque()
        self.slots: dict[str, TurnSlot] = {}


class RouterActor(Actor["RouterMessage"]):
    """Hands each message to the switchboard and performs what comes back."""

    def __init__(
        self,
        system: System,
        address: Address[RouterMessage],
        *,
        state: RouterState,
        connection: Connection,
        runtime: Runtime,
        sessions: Callable[[], SessionTree],
        initialized: Callable[[], None],
        session_opened: Callable[[], None],
        all_over: Callable[[], None],
    ) -> None:
        """Route for ``connection``; say how far it is: ``all_over`` when no turn is left."""
        super().__init__(system, address)
        self._state = state
        self._connection = connection
        self._runtime = runtime
        self._sessions = sessions
        self._initialized = initialized
        self._session_opened = session_opened
        self._all_over = all_over
        self._decided: RouterMessage | None = None

    def started(self) -> None:
        """Finish what an earlier incarnation had in hand."""
        if self._state.performing is not None:
            self._give_up(self._state.performing)
        self._work_off()
        while self._state.lost:
            self.receive(self._state.lost.popleft())

    def receive(self, message: RouterMessage) -> None:
        """Handle one message."""
        self._state.todo.extend(self._decide(message))
        self._decided = message
        self._work_off()

    def last_words(self, message: RouterMessage) -> None:
        """Leave a message that nothing came of for one more try."""
        if message is not self._decided:
            self._state.lost.append(message)

    def _decide(self, message: RouterMessage) -> list[Effect]:
        board = self._state.switchboard
        match message:
            case Incoming():
                return self._incoming(message)
            case CancelRead():
                return board.cancel(message)
            case SessionOpened(opened):
                return board.opened(opened)
            case SessionAnswered(session_id):
                self._session_opened()
                return board.answered(session_id)
            case SessionRefused(request_id, session_id, error):
                return board.refused(request_id, session_id, error)
            case TurnAnswered(turn_id):
                self._close_slot(turn_id)
                return board.turn_answered(turn_id)
            case TurnWished(session_id):
                return board.wished(session_id)
            case EndTurns(hard):
                return board.end(hard=hard)

    def _incoming(self, message: Incoming) -> list[Effect]:
        """Take what a client sent.  What it trips over here must not cost the other sessions."""
        try:
            return self._state.switchboard.incoming(message.seq, message.message)
        except Exception as error:  # noqa: BLE001 - our bug, and it would raise again after a restart
            self.system.telemetry.event("crashed", f"{self.address.name} request", reason=error)
        if isinstance(message.message, Request):
            return [Answer(message.message.id, InternalError())]
        return []

    def _work_off(self) -> None:
        state = self._state
        while state.todo:
            state.performing = state.todo[0]
            self._perform(state.performing)
            state.performing = None
            state.todo.popleft()

    def _give_up(self, effect: Effect) -> None:
        """Drop an effect that crashed us half-way; whoever waits for it is answered as our bug."""
        state = self._state
        state.performing = None
        state.todo.popleft()
        match effect:
            case Answer(request_id) | Initialize(request_id):
                self._connection.answer(request_id, InternalError())
            case Open(request_id, wanted):
                session_id: str | None = getattr(wanted, "session_id", None)
                state.todo.extend(
                    state.switchboard.refused(request_id, session_id, InternalError())
                )
            case Begin(turn):
                if turn.is_owed:
                    self._connection.answer(turn.request_id, InternalError())
                self._close_slot(turn.turn_id)
                state.todo.extend(state.switchboard.turn_answered(turn.turn_id))
            case _:
                pass

    def _perform(self, effect: Effect) -> None:
        match effect:
            case Answer(request_id, value):
                self._connection.answer(request_id, value)
            case Initialize():
                self._initialize(effect)
            case Open():
                # A client that sends all at once must hear of initialize first (I10).
                self._connection.after_answers(lambda: self._start_opener(effect))
            case Begin(turn):
                self._begin(turn)
            case Cancel():
                self._cancel(effect)
            case Connect(session_id, own_turns):
                own_turns.connect(lambda: self.address.tell(TurnWished(session_id)))
            case TellCancelled(heard):
                heard()
            case GiveAnswer():
                self._give_answer(effect)
            case AllOver():
                self._all_over()

    def _initialize(self, effect: Initialize) -> None:
        capabilities = self._runtime.capabilities(effect.params)
        self._state.switchboard.advertised(capabilities)
        result = initialize_result(self._runtime.agent_info(), capabilities)
        self._connection.answer(effect.request_id, result)
        self._connection.after_answers(self._initialized)

    # --- sessions: opened on a leaf thread, which may look at the disk and wait at the gate

    def _start_opener(self, effect: Open) -> None:
        self.system.platform.spawn("opener", lambda: self._open(effect))

    def _open(self, effect: Open) -> None:
        from actors.opener import open_session

        open_session(effect, self._runtime, self._connection, self.address, self.system.faults)

    # --- turns

    def _begin(self, turn: Turn) -> None:
        from actors.outlet import Outlet
        from actors.session_state import StartTurn
        from actors.turn_host import ClientTurnHost
        from actors.turn_slot import TurnSlot

        if turn.turn_id in self._state.slots:
            return
        parts = self._sessions().parts(turn.session_id)
        opened = self._state.switchboard.session(turn.session_id)
        host = ClientTurnHost(
            runtime=self._runtime,
            connection=self._connection,
            opened=opened,
            turn=turn,
            session=parts.session,
            router=self.address,
            executor=parts.executor,
        )
        outlet = Outlet(
            self.system.platform, self.system.faults, host.deliver, host.over, host.broken
        )
        slot = TurnSlot(turn.turn_id, turn.session_id, host, outlet)
        if turn.is_owed:
            self._connection.claim(turn.request_id, turn.turn_id)
        self._state.slots[turn.turn_id] = slot
        parts.desk.slot = slot
        parts.session.tell(StartTurn(slot))

    def _cancel(self, effect: Cancel) -> None:
        from actors.step_executor import cancel_order

        slot = self._state.slots.get(effect.turn.turn_id)
        if slot is None:
            return
        reason: CancelReason = "shutdown" if effect.shutdown else "client"
        if effect.hard:
            reason = "hard_stop"
        parts = self._sessions().parts(slot.session_id)
        parts.session.tell(cancel_order(slot, reason))

    def _close_slot(self, turn_id: str) -> None:
        slot = self._state.slots.pop(turn_id, None)
        if slot is not None:
            desk = self._sessions().parts(slot.session_id).desk
            if desk.slot is slot:
                desk.slot = None

    def _give_answer(self, effect: GiveAnswer) -> None:
        question: Any = self._connection.take_question(effect.request_id)
        if question is None:
            self.system.telemetry.event("late_answer", self.address.name, id=effect.request_id)
            return
        from actors.step_executor import Answered

        executor = self._sessions().parts(question.session_id).executor
        executor.tell(Answered(question.turn_id, question.key, effect.value, effect.failed))
