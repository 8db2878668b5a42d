"""The client's side of a conversation with any agent.  Pure: what is heard in, effects out.

It greets the agent, opens one session, sends the prompts one after the other, answers the agent's
questions with the user's words, and knows at each moment what Ctrl-C means.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from protocol import jsonrpc
from protocol.acp import client_side as acp
from protocol.errors import MethodNotFound, ProtocolError
from protocol.handshake import PROTOCOL_VERSION
from protocol.pending import PendingTable
from runtimes.chantry import late, outcome
from runtimes.chantry.desk import Desk
from runtimes.chantry.effects import Ask, AskNoMore, End, Send, Show
from runtimes.chantry.permission import Permission
from runtimes.chantry.question_details import details
from runtimes.chantry.shown import Note, Problem, Prompted, Question
from runtimes.chantry.turn_view import TurnView
from runtimes.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from protocol.acp.permissions import PermissionOption
    from protocol.jsonrpc import Message, RequestId
    from protocol.members import JsonObject
    from runtimes.chantry.effects import Effect, Patience
    from runtimes.chantry.permission import Policy
    from runtimes.chantry.shown import Shown

PROMPT_MARK: Final = "> "
AUTH_REQUIRED: Final = -32000
CANCELLING: Final = "cancelling; Ctrl-C again ends the agent"
STRANGE_BYTES: Final = 160
"""Shown of a line that is no message: enough to know a traceback or a stray print by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What the user wants of the conversation."""

    prompts: tuple[str, ...]
    """Sent in order.  Empty: they are typed."""
    cwd: str
    """Absolute; the session's."""
    policy: Policy
    interactive: bool
    """Someone can be asked, and sees what he types."""


Asked: TypeAlias = Literal["initialize", "session/new", "session/prompt"]
Phase: TypeAlias = Literal["opening", "idle", "turn", "asked", "over"]
"""``asked``: between turns, a question waits that the next prompt answers."""


class Conversation:
    """One connection, one session, one turn at a time."""

    def __init__(self, script: Script, clock: Callable[[], float]) -> None:
        """Prepare; ``clock`` gives seconds on a monotonic clock."""
        self._script = script
        self._prompts = deque(script.prompts)
        self._pending: PendingTable[Asked] = PendingTable()
        self._phase: Phase = "opening"
        self._session_id = ""
        self._code = outcome.OK
        self._cancelling = False
        self._desk = Desk(script.policy, interactive=script.interactive)
        self._late: Permission | None = None
        self._view = TurnView(clock)
        self._effects: list[Effect] = []

    @property
    def is_busy(self) -> bool:
        """Whether something is going on that takes time: worth drawing again each second."""
        return self._phase == "turn" and not self._desk.is_asking

    def begin(self) -> list[Effect]:
        """Greet the agent."""
        self._request("initialize", acp.initialize_params("chantry", VERSION))
        return self._take()

    def received(
        self, message: Message, line: bytes | bytearray | memoryview = b""
    ) -> list[Effect]:
        """Take a line of the agent, decoded, and as it came.

        Once we are ending, it says nothing to us.
        """
        if self._phase == "over":
            return []
        match message:
            case jsonrpc.Result(request_id, value):
                self._answered(request_id, value)
            case jsonrpc.Failure(request_id, code, text, _):
                self._failed(request_id, code, text)
            case jsonrpc.Request():
                self._requested(message)
            case jsonrpc.Notification("session/update", params):
                self._show(*self._view.take(params, self._session_id))
            case jsonrpc.Notification(method, _):
                self._show(Note(f"notification {method}, not known here"))
            case jsonrpc.Rejected(_, error):
                self._show(Note(_no_message(error.message, line)))
            case jsonrpc.Ignored(reason):
                self._show(Note(_no_message(reason, line)))
        return self._take()

    def typed(self, line: str) -> list[Effect]:
        """Take a line of the user: the answer to the last `Ask`."""
        if self._desk.is_asking:
            self._effects += self._desk.typed(line)
        elif self._phase == "asked" and self._late:
            self._choose_late(self._late, line)
        elif self._phase == "idle":
            self._prompts.extend([line] if line.strip() else [])
            self._next_turn()
        return self._take()

    def typing_ended(self) -> list[Effect]:
        """Take the end of what the user types."""
        if self._desk.is_asking:
            self._effects += self._desk.typing_ended()
        elif self._phase == "asked":
            self._answer_late(None)
        elif self._phase == "idle":
            self._end(self._code)
        return self._take()

    def interrupted(self) -> list[Effect]:
        """Take Ctrl-C: cancel the turn; the second time, or without a turn, end the agent."""
        if self._phase == "turn" and not self._cancelling:
            self._cancel()
        elif self._phase == "over":
            self._effects.append(End(outcome.INTERRUPTED, "none"))
        else:
            self._withdraw()
            self._show(Note("ending the agent"), *self._view.end("the agent was ended"))
            self._end(outcome.INTERRUPTED, "brisk")
        return self._take()

    def told_to_end(self, code: int) -> list[Effect]:
        """Take a signal that ends us, such as SIGTERM."""
        patience: Patience = "none" if self._phase == "over" else "brisk"
        self._show(*self._view.end("ended from outside"))
        self._end(code, patience)
        return self._take()

    def agent_gone(self, how: str, last_words: tuple[str, ...]) -> list[Effect]:
        """Take the end of the agent; ``how`` puts its exit status into words."""
        if self._phase == "over":
            return []
        when = {"opening": "before it had a session", "turn": "in the middle of a turn"}
        self._withdraw()
        self._show(*self._view.end("the agent died"))
        said = ["the last lines it wrote to stderr:", *last_words] if last_words else []
        problem = f"the agent died {when.get(self._phase, 'between turns')}: {how}"
        self._show(Problem("\n  ".join([problem, *said])))
        self._end(outcome.FAILED)
        return self._take()

    def _answered(self, request_id: RequestId, value: object) -> None:
        """Take the result of a request of ours; one that we do not know is passed over."""
        asked = self._pending.take(request_id)
        try:
            match asked:
                case "initialize":
                    self._greeted(acp.parse_initialize_result(value))
                case "session/new":
                    self._opened(acp.parse_new_session_result(value))
                case "session/prompt":
                    self._turn_over(acp.parse_prompt_result(value))
                case None:
                    pass
        except ProtocolError as error:
            self._give_up(f"the answer to {asked} is malformed: {error.message}")

    def _failed(self, request_id: RequestId, code: int, text: str) -> None:
        """Take the error of a request of ours: without a session there is no going on."""
        match self._pending.take(request_id):
            case "session/prompt":
                problem = Problem(f"the agent answers with an error: {text} ({code})")
                self._withdraw()
                self._show(*self._view.end("failed"), problem)
                self._after_turn(outcome.FAILED)
            case "session/new" if code == AUTH_REQUIRED:
                self._give_up(f"the agent wants a login first: {text}")
            case None:
                if request_id is None:
                    self._show(Note(f"the agent complains: {text} ({code})"))
            case asked:
                self._give_up(f"the agent refuses {asked}: {text} ({code})")

    def _requested(self, request: jsonrpc.Request) -> None:
        """Take a request of the agent; we offered it nothing but to ask for permission."""
        if request.method != "session/request_permission":
            self._send(jsonrpc.encode_error(request.id, MethodNotFound(request.method)))
            self._show(Note(f"request {request.method}, not offered"))
            return
        try:
            question = acp.parse_permission_request(request.params)
        except ProtocolError as error:
            self._send(jsonrpc.encode_error(request.id, error))
            self._show(Note(f"a question that can't be read: {error.message}"))
            return
        call = question.tool_call
        title = call.title or self._view.title_of(call.tool_call_id)
        late_id, about = late.named_in(question.meta), details(call.content or ())
        permission = Permission(request.id, title, question.options, late_id, about)
        if self._cancelling or self._phase != "turn":
            self._effects += self._desk.settle(permission, None)
        elif permission.late_id and self._late is None:
            self._late = permission
        else:
            self._effects += self._desk.take(permission)

    def _greeted(self, agent: acp.AgentSaid) -> None:
        if agent.protocol_version != PROTOCOL_VERSION:
            self._give_up(
                f"the agent speaks version {agent.protocol_version} of the protocol, "
                f"and we speak {PROTOCOL_VERSION}"
            )
            return
        name = (
            f"{agent.info.name} {agent.info.version}" if agent.info else "an agent without a name"
        )
        self._show(Note(f"{name}, protocol {agent.protocol_version}"))
        self._request("session/new", acp.new_session_params(self._script.cwd))

    def _opened(self, session_id: str) -> None:
        self._session_id = session_id
        self._show(Note(f"session {session_id} in {self._script.cwd}"))
        self._next_turn()

    def _next_turn(self) -> None:
        """Send the next prompt; without one, ask for it or end."""
        self._phase = "idle"
        if self._prompts:
            prompt = self._prompts.popleft()
            if self._script.prompts or not self._script.interactive:
                self._show(Prompted(prompt))
            self._prompt(prompt)
        elif self._script.prompts:
            self._end(self._code)
        else:
            mark = PROMPT_MARK if self._script.interactive else ""
            self._effects.append(Ask(mark, fresh=False))

    def _prompt(self, text: str, meta: JsonObject | None = None) -> None:
        """Begin a turn."""
        self._phase = "turn"
        self._cancelling = False
        self._view.begin()
        self._request("session/prompt", acp.prompt_params(self._session_id, text, meta))

    def _turn_over(self, answer: acp.PromptAnswer) -> None:
        self._effects += self._desk.withdraw()
        self._show(*self._view.end(outcome.in_words(answer)))
        code = outcome.exit_code(answer)
        if self._late and not self._cancelling and late.waits_for(answer, self._late.late_id):
            self._code = code
            self._put_late(self._late)
        else:
            self._withdraw()
            self._after_turn(code)

    def _put_late(self, question: Permission) -> None:
        """Have a question answered that the ended turn waits for: by policy, or by the user."""
        if self._script.policy != "ask":
            self._answer_late(question.by_policy(self._script.policy))
        elif self._script.interactive:
            self._phase = "asked"
            self._show(Question(question.lines()))
            self._effects.append(Ask(question.prompt, fresh=True))
        else:
            self._show(Note("nobody to ask here; --yes would allow it"))
            self._answer_late(None)

    def _choose_late(self, question: Permission, line: str) -> None:
        """Take what was typed; the question stays until it is one of the options."""
        option = question.choose(line)
        if option:
            self._answer_late(option)
        else:
            self._effects.append(Ask(question.prompt, fresh=True))

    def _answer_late(self, option: PermissionOption | None) -> None:
        """Go on with the prompt that answers; without an answer the question stays open."""
        question, self._late = self._late, None
        if question is None:
            return
        self._effects += self._desk.settle(question, option)
        if option is None:
            self._after_turn(self._code)
        else:
            self._prompt(late.GO_ON, late.answer_meta(question.late_id, option.option_id))

    def _after_turn(self, code: int) -> None:
        """Go on after a turn.  Whoever cancels one does not want the prompts behind it."""
        self._code = outcome.INTERRUPTED if self._cancelling and self._prompts else code
        if self._cancelling:
            self._prompts.clear()
        self._next_turn()

    def _cancel(self) -> None:
        self._cancelling = True
        self._show(Note(CANCELLING))
        cancel = acp.cancel_params(self._session_id)
        self._send(jsonrpc.encode_notification("session/cancel", cancel))
        self._withdraw()

    def _withdraw(self) -> None:
        """Drop all questions: nobody waits for their answers any more."""
        self._effects += self._desk.withdraw()
        question, self._late = self._late, None
        if question:
            asked: list[Effect] = [AskNoMore()] if self._phase == "asked" else []
            self._effects += [*asked, *self._desk.settle(question, None)]

    def _give_up(self, problem: str) -> None:
        self._show(*self._view.end("failed"), Problem(problem))
        self._end(outcome.FAILED)

    def _end(self, code: int, patience: Patience = "polite") -> None:
        self._phase = "over"
        self._effects.append(End(code, patience))

    def _request(self, method: Asked, params: JsonObject) -> None:
        self._send(jsonrpc.encode_request(self._pending.issue(method, None), method, params))

    def _send(self, line: bytes) -> None:
        self._effects.append(Send(line))

    def _show(self, *items: Shown) -> None:
        self._effects += [Show(item) for item in items]

    def _take(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects


def _no_message(reason: str, line: bytes | bytearray | memoryview) -> str:
    start = bytes(line[:STRANGE_BYTES]).decode(errors="replace").strip()
    more = " …" if len(line) > STRANGE_BYTES else ""
    return f"a line that is no message ({reason}): {start}{more}"
