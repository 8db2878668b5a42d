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
)
from actors.switchboard import (
    AllOver,
    Answer,
    Begin,
    Cancel,
    GiveAnswer,
    Initialize,
    Open,
    Switchboard,
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
    from actors.switchboard import Effect, Turn
    from actors.turn import CancelReason
    from actors.turn_slot import TurnSlot


class RouterState:
    """What outlives a crash of the router."""

    def __init__(self, switchboard: Switchboard) -> None:
        """Start with nothing in hand."""
        self.switchboard = switchboard
        self.todo: deque[Effect] = deque()
        self.lost: deque[RouterMessage] = deque()
        self.retried: RouterMessage | None = None
        self.slots: dict[str, TurnSlot] = {}
        self.warmed_up = False


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
        all_over: Callable[[], None],
    ) -> None:
        """Route for ``connection``; ``all_over`` is called when the last turn has ended."""
        super().__init__(system, address)
        self._state = state
        self._connection = connection
        self._runtime = runtime
        self._sessions = sessions
        self._all_over = all_over
        self._handled: RouterMessage | None = None

    def started(self) -> None:
        """Finish what an earlier incarnation had in hand."""
        self._work_off()
        while self._state.lost:
            message = self._state.lost.popleft()
            self._state.retried = message
            self._take(message)

    def receive(self, message: RouterMessage) -> None:
        """Handle one message."""
        self._take(message)
        self._handled = message

    def last_words(self, message: RouterMessage) -> None:
        """Leave a message for one more try; one that crashed us twice is answered as our bug."""
        if message is self._handled:
            return
        if message is not self._state.retried:
            self._state.lost.append(message)
        elif isinstance(message, Incoming) and isinstance(message.message, Request):
            self._connection.answer_unclaimed(message.message.id, InternalError())

    def _take(self, message: RouterMessage) -> None:
        board = self._state.switchboard
        match message:
            case Incoming(seq, incoming):
                self._do(board.incoming(seq, incoming))
            case CancelRead():
                self._do(board.cancel(message))
            case SessionOpened(_, _, opened):
                board.opened(opened)
            case SessionAnswered(session_id):
                self._do(board.answered(session_id))
            case SessionRefused(request_id, session_id, error):
                self._do(board.refused(request_id, session_id, error))
            case TurnAnswered(turn_id):
                self._close_slot(turn_id)
                self._do(board.turn_answered(turn_id))
            case EndTurns(hard):
                self._do(board.end(hard=hard))

    def _do(self, effects: list[Effect]) -> None:
        self._state.todo.extend(effects)
        self._work_off()

    def _work_off(self) -> None:
        todo = self._state.todo
        while todo:
            self._perform(todo[0])
            todo.popleft()

    def _perform(self, effect: Effect) -> None:
        match effect:
            case Answer(request_id, value):
                self._connection.answer(request_id, value)
            case Initialize():
                self._initialize(effect)
            case Open():
                self.system.platform.spawn("opener", lambda: self._open(effect))
            case Begin(turn):
                self._begin(turn)
            case Cancel():
                self._cancel(effect)
            case GiveAnswer():
                self._give_answer(effect)
            case AllOver():
                self._all_over()

    def _initialize(self, effect: Initialize) -> None:
        capabilities = self._runtime.capabilities(effect.params)
        self._state.switchboard.advertised(capabilities)
        result = initialize_result(self._runtime.agent_info(), capabilities)
        self._connection.answer(effect.request_id, result)

    # --- sessions: opened on a leaf thread, which may look at the disk and wait at the gate

    def _open(self, effect: Open) -> None:
        from actors.opener import open_session

        open_session(effect, self._runtime, self._connection, self.address)

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
        )
        outlet = Outlet(self.system.platform, self.system.faults, host.deliver, host.over)
        slot = TurnSlot(turn.turn_id, turn.session_id, host, outlet)
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
