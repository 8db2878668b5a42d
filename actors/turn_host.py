"""A turn that works for a client behind the protocol: its lines, its questions, its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.messages import TurnAnswered
from actors.session_state import TurnEnded
from protocol.acp.prompts import prompt_result
from protocol.errors import InternalError
from protocol.jsonrpc import encode_error, encode_request, encode_result
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from actors.address import Address
    from actors.connection import Connection
    from actors.messages import RouterMessage
    from actors.opened_session import OpenedSession
    from actors.runtime import Runtime
    from actors.session_state import SessionMessage
    from actors.step_executor import ExecutorMessage
    from actors.turn import TurnMachine, TurnResult
    from actors.turn_line import Turn
    from actors.turn_slot import TurnSlot
    from protocol.acp.prompts import Prompt


class Question(NamedTuple):
    """What waits for a client's answer: a key of one turn's machine."""

    session_id: str
    turn_id: str
    key: str


class ClientTurnHost:
    """One turn, of a prompt or of the session's own, between the runtime and the gate."""

    def __init__(
        self,
        *,
        runtime: Runtime,
        connection: Connection,
        opened: OpenedSession,
        turn: Turn,
        session: Address[SessionMessage],
        router: Address[RouterMessage],
        executor: Address[ExecutorMessage],
    ) -> None:
        """Work for ``turn`` of the session ``opened``."""
        self._runtime = runtime
        self._connection = connection
        self._opened = opened
        self._turn_id, self._session_id = turn.turn_id, turn.session_id
        self._request_id = turn.request_id
        self._prompt: Prompt | None = turn.prompt
        self._session = session
        self._router = router
        self._executor = executor
        self._is_owed = turn.is_owed
        self._settled = not turn.is_owed
        self._mute = False

    def begin(self) -> TurnMachine:
        """Have the runtime make the machine; what it needs of the prompt is then the machine's."""
        if not self._is_owed:
            assert self._opened.own_turns is not None  # noqa: S101 - nobody else wishes for any
            return self._opened.own_turns.begin()
        assert self._prompt is not None  # noqa: S101 - begun once
        machine = self._runtime.begin_turn(self._opened, self._prompt, self._turn_id)
        self._prompt = None  # it may be 60 MiB, and we live as long as the turn
        return machine

    def put_question(self, slot: TurnSlot, key: str, method: str, params: dict[str, Any]) -> None:
        """Send a request of ours, in order with what the turn said before it.

        Where the client hears nothing any more it fails at once: nobody would ever answer it.
        """
        question = Question(slot.session_id, slot.turn_id, key)
        request_id = self._connection.open_question(question, slot.turn_id)
        slot.outlet.say((encode_request(request_id, method, params),))
        if self._mute and self._connection.take_question(request_id) is not None:
            self._fail(question)

    def deliver(self, items: list[Any]) -> None:
        """Carry items to the gate; bytes are lines already, the rest the runtime renders."""
        lines: list[bytes] = []
        rest: list[Any] = []
        for item in items:
            if not isinstance(item, bytes):
                rest.append(item)
                continue
            if rest:
                lines += self._runtime.render_items(self._session_id, rest)
                rest = []
            lines.append(item)
        if rest:
            lines += self._runtime.render_items(self._session_id, rest)
        self._connection.gate.put(lines)

    def answer(self, result: TurnResult) -> None:
        """Answer the prompt, if there is one and nobody had to do it for us."""
        if self._settled:
            return
        request_id = self._request_id
        if result.error is not None:
            line = encode_error(request_id, result.error)
        else:
            line = encode_result(request_id, prompt_result(result.stop_reason, result.meta))
        # Not earlier: a result that can't be encoded still has to be answered.
        self._settled = True
        if self._connection.settle(request_id):
            self._connection.deliver(request_id, line)

    def broken(self) -> None:
        """Fail the turn's open questions: the client does not hear them, or not what follows."""
        self._mute = True
        for question in self._connection.drop_questions(self._turn_id):
            self._fail(question)

    def _fail(self, question: Question) -> None:
        from actors.step_executor import Answered

        self._executor.tell(Answered(question.turn_id, question.key, None, failed=True))

    def over(self, problem: BaseException | None) -> None:
        """Close the turn's questions and let the next turn start; answers if nobody could."""
        if problem is not None:
            from actors.logs import log

            log().opt(exception=problem).error("turn {} lost its voice", self._turn_id)
        if not self._settled:  # else the client may be using the id for its next request
            self._connection.answer(self._request_id, InternalError())
        self._connection.drop_questions(self._turn_id)
        self._session.tell(TurnEnded(self._turn_id))
        if problem is None:
            self._next_turn()
        else:  # the responder has the answer, and the next turn must not overtake it
            self._connection.after_answers(self._next_turn)

    def _next_turn(self) -> None:
        self._router.tell(TurnAnswered(self._turn_id))
