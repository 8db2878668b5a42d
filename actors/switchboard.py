"""What the router does with each message, as values: sessions, the order of turns, cancels.

Pure: no thread, no clock, no file.  The order of reading (``seq``) decides what a cancel hits: it
counts for prompts read before it, whichever of the two gets here first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from actors.turn_line import TurnLine
from protocol.errors import InvalidRequest, MethodNotFound, ProtocolError, SessionNotFound
from protocol.handshake import InitializeParams, parse_initialize
from protocol.jsonrpc import Failure, Request, Result, id_key
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.messages import CancelRead
    from actors.opened_session import OpenedSession
    from actors.runtime import OwnTurns, TurnRule
    from actors.turn_line import Turn
    from protocol.acp.sessions import LoadSession, NewSession, ResumeSession
    from protocol.handshake import AgentCapabilities
    from protocol.jsonrpc import IdKey, Notification, RequestId

MAX_QUEUED_TURNS = 64
"""Prompts that may wait for their turn; the number is spec/protocol.md's."""
MAX_EARLY_CANCELS = 256
"""Cancels kept for sessions and prompts that are still on their way through the reader."""


class Answer(NamedTuple):
    """Answer a request that belongs to no turn; ``value`` is a result or a `ProtocolError`."""

    request_id: RequestId
    value: Any


class Initialize(NamedTuple):
    """Answer the handshake."""

    request_id: RequestId
    params: InitializeParams


class Open(NamedTuple):
    """Let the runtime open a session, off this thread."""

    request_id: RequestId
    wanted: NewSession | LoadSession | ResumeSession


class Begin(NamedTuple):
    """Start a turn."""

    turn: Turn


class Cancel(NamedTuple):
    """Cancel a running turn; ``hard`` also gives up its clean-up."""

    turn: Turn
    hard: bool = False
    shutdown: bool = False


class GiveAnswer(NamedTuple):
    """The client answered a question of ours."""

    request_id: RequestId
    value: Any
    failed: bool


class TellCancelled(NamedTuple):
    """The client cancelled a session whose runtime wants to know, turn or no turn."""

    heard: Callable[[], None]


class Connect(NamedTuple):
    """Hand a session that begins turns by itself what it needs to wish for them."""

    session_id: str
    own_turns: OwnTurns


class AllOver(NamedTuple):
    """After `end`: no turn runs any more."""


Effect: TypeAlias = (
    Answer | Initialize | Open | Begin | Cancel | Connect | TellCancelled | GiveAnswer | AllOver
)


class _Session:
    """A session that exists, or is being opened by load or resume."""

    __slots__ = ("cancelled_before", "opened", "opening")

    def __init__(self) -> None:
        self.opened: OpenedSession | None = None
        self.opening = 1
        """Requests that open it and are not answered yet; its turns wait for them."""
        self.cancelled_before = 0


def _until_it_is_over(turn_id: str) -> bool:
    del turn_id
    return True


class Switchboard:
    """One connection's sessions and turns.  No dataclass: `initialize` waits for this module."""

    def __init__(
        self,
        turn_rule: TurnRule,
        methods: frozenset[str],
        owes: Callable[[str], bool] = _until_it_is_over,
    ) -> None:
        """Start before `initialize`, for a runtime that serves ``methods`` beside the baseline.

        ``owes`` tells whether a turn that runs has still to answer its prompt.
        """
        self.turn_rule = turn_rule
        self._owes = owes
        self.methods = methods
        self.capabilities: AgentCapabilities | None = None
        """What we advertised; None before `initialize` has succeeded."""
        self.line = TurnLine()
        self._sessions: dict[str, _Session] = {}
        self._early: dict[str | IdKey, int] = {}
        self._openings: list[Open] = []
        """Where one session is all: what opens it, in the order of reading; the first is tried."""
        self._ending = False

    def incoming(
        self, seq: int, message: Request | Notification | Result | Failure
    ) -> list[Effect]:
        """Take a message that was read."""
        match message:
            case Request():
                try:
                    return self._request(seq, message)
                except ProtocolError as error:
                    return [Answer(message.id, error)]
            case Result(request_id, value):
                return [GiveAnswer(request_id, value, failed=False)]
            case Failure(request_id):
                return [GiveAnswer(request_id, message, failed=True)]
            case _:
                return []

    def advertised(self, capabilities: AgentCapabilities) -> None:
        """Remember what the answer to `initialize` offers."""
        self.capabilities = capabilities

    def opened(self, opened: OpenedSession) -> list[Effect]:
        """A session exists; its turns wait until the client was told."""
        self._sessions.setdefault(opened.session_id, _Session()).opened = opened
        own = opened.own_turns
        return [*self._open_next(), *([Connect(opened.session_id, own)] if own else [])]

    def answered(self, session_id: str) -> list[Effect]:
        """The client was told of the session: its turns may start."""
        self._sessions[session_id].opening -= 1
        return self._next()

    def refused(
        self, request_id: RequestId, session_id: str | None, error: ProtocolError
    ) -> list[Effect]:
        """A session could not be opened; what waited for it is refused too."""
        effects: list[Effect] = [Answer(request_id, error), *self._open_next()]
        session = self._sessions.get(session_id or "")
        if session_id is not None and session is not None:
            session.opening -= 1
            if session.opened is None and not session.opening:
                del self._sessions[session_id]
                effects += [
                    Answer(turn.request_id, SessionNotFound(session_id))
                    for turn in self.line.take(session_id)
                ]
        return effects + self._next()

    def session(self, session_id: str) -> OpenedSession:
        """Look up an opened session."""
        opened = self._sessions[session_id].opened
        assert opened is not None  # noqa: S101 - only asked for turns that began
        return opened

    def cancel(self, read: CancelRead) -> list[Effect]:
        """Cancel what was read before: running turns get a signal, waiting ones their answer."""
        running, waiting = self.line.hit(read)
        effects: list[Effect] = [Cancel(turn) for turn in running]
        effects += self._told(read)
        effects += [_cancelled(turn.request_id) for turn in waiting]
        self._keep_cancel(read)
        return effects if self._ending else effects + self._next()

    def _told(self, read: CancelRead) -> list[Effect]:
        session = None if read.by_request else self._sessions.get(read.session_id or "")
        heard = session.opened.on_cancel if session and session.opened else None
        return [TellCancelled(heard)] if heard else []

    def turn_answered(self, turn_id: str) -> list[Effect]:
        """A turn's last word has left: the next may start."""
        return self._next() if self.line.ended(turn_id) else []

    def wished(self, session_id: str) -> list[Effect]:
        """A session wants a turn of its own: next, before any prompt that waits."""
        session = self._sessions.get(session_id)
        if self._ending or session is None or session.opened is None:
            return []
        self.line.wish(session_id)
        return self._next()

    def end(self, *, hard: bool) -> list[Effect]:
        """Cancel everything and start nothing more; `AllOver` follows, now or later."""
        self._ending = True
        effects: list[Effect] = [_cancelled(turn.request_id) for turn in self.line.empty()]
        running = self.line.running.values()
        effects += [Cancel(turn, hard=hard, shutdown=True) for turn in running]
        return effects + self._next()

    # --- requests

    def _request(self, seq: int, request: Request) -> list[Effect]:
        """Serve a request, in the order of checks that spec/protocol.md decided."""
        method = request.method
        if method == "initialize":
            return [Initialize(request.id, parse_initialize(request.params))]
        if self.capabilities is None:
            message = "initialize first"
            raise InvalidRequest(message)
        match method:
            case "session/prompt":
                return self._prompt(seq, request)
            case "session/cancel":
                return [Answer(request.id, {})]
            case "session/new" | "session/load" | "session/resume":
                if method == "session/new" or method in self.methods:
                    return self._open(request)
            case _:
                pass
        raise MethodNotFound(method)

    def _open(self, request: Request) -> list[Effect]:
        from protocol.acp.sessions import (
            parse_load_session,
            parse_new_session,
            parse_resume_session,
        )

        if request.method == "session/new":
            return self._in_order(Open(request.id, parse_new_session(request.params)))
        parse = parse_load_session if request.method == "session/load" else parse_resume_session
        wanted = parse(request.params)
        # Known from here on, so that a prompt sent together with this request finds it.
        session = self._sessions.get(wanted.session_id)
        if session is None:
            self._sessions[wanted.session_id] = _Session()
        else:
            session.opening += 1
        return self._in_order(Open(request.id, wanted))

    def _in_order(self, opening: Open) -> list[Effect]:
        """Where one session is all, who asked first is served first; elsewhere nobody waits."""
        if self.turn_rule == "queue":
            return [opening]
        self._openings.append(opening)
        return [opening] if len(self._openings) == 1 else []

    def _open_next(self) -> list[Effect]:
        del self._openings[:1]
        return [*self._openings[:1]]

    def _prompt(self, seq: int, request: Request) -> list[Effect]:
        from protocol.acp.prompts import parse_prompt, prompt_session

        assert self.capabilities is not None  # noqa: S101 - checked by the caller
        session_id = prompt_session(request.params)
        session = self._sessions.get(session_id)
        if session is None:
            raise SessionNotFound(session_id)
        prompt = parse_prompt(request.params, self.capabilities)
        if self._was_cancelled(seq, session_id, session, request.id):
            return [_cancelled(request.id)]
        self._check_room(session_id)
        self.line.add(request.id, seq, session_id, prompt)
        return self._next()

    def _check_room(self, session_id: str) -> None:
        if self._ending:
            problem = "the agent is ending"
        elif self.turn_rule == "refuse" and self.line.serves_a_prompt(self._owes):
            problem = f"session {session_id} is still running a turn"
        elif len(self.line.waiting) >= MAX_QUEUED_TURNS:
            problem = f"{MAX_QUEUED_TURNS} prompts are waiting already; try again later"
        else:
            return
        raise InvalidRequest(problem)

    # --- the order of turns

    def _next(self) -> list[Effect]:
        """Start the next turn if nothing runs and its session is known to the client."""
        if self._ending:
            return [] if self.line.running else [AllOver()]
        turn = self.line.start(lambda session_id: not self._sessions[session_id].opening)
        return [] if turn is None else [Begin(turn)]

    # --- cancels that overtook their prompt

    def _keep_cancel(self, read: CancelRead) -> None:
        session = self._sessions.get(read.session_id or "")
        if session is not None and not read.by_request:
            session.cancelled_before = max(session.cancelled_before, read.seq)
            return
        key = id_key(read.request_id) if read.by_request else read.session_id
        if key is not None:
            self._early[key] = read.seq
        while len(self._early) > MAX_EARLY_CANCELS:
            del self._early[next(iter(self._early))]

    def _was_cancelled(
        self, seq: int, session_id: str, session: _Session, request_id: RequestId
    ) -> bool:
        last = max(
            session.cancelled_before,
            self._early.get(session_id, 0),
            self._early.get(id_key(request_id), 0),
        )
        return seq < last


def _cancelled(request_id: RequestId) -> Answer:
    from protocol.acp.prompts import prompt_result

    return Answer(request_id, prompt_result("cancelled", {}))
