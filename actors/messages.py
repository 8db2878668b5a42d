"""Commands and events between the actors of a connection.

Commands are imperative, events past tense.  A type with ``urgent = True`` travels in the mailbox's
control lane: a closed set of small messages that must not wait behind work.  They are named tuples:
a frozen dataclass takes five times as long to define, and `initialize` waits for this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.opened_session import OpenedSession
    from protocol.errors import ProtocolError
    from protocol.jsonrpc import Failure, Notification, Request, RequestId, Result


class Stop(NamedTuple):
    """Supervisor to child: end after the message in hand; what is queued behind is left."""

    @property
    def urgent(self) -> bool:
        """It travels in the control lane."""
        return True


class Down(NamedTuple):
    """A monitored mailbox closed, for good.  ``reason`` is None after an orderly stop."""

    name: str
    generation: int
    reason: BaseException | None

    @property
    def urgent(self) -> bool:
        """It travels in the control lane."""
        return True


class Tick(NamedTuple):
    """Timer to actor: the timer ``key`` is due.  Old generations are dropped by the base class."""

    key: str
    generation: int

    @property
    def urgent(self) -> bool:
        """It travels in the control lane."""
        return True


class ReadMore(NamedTuple):
    """Reader to itself: wait for input once."""


class BatchReady(NamedTuple):
    """Gate to writer: there is something to write."""


class Respond(NamedTuple):
    """To the responder: put an answer that belongs to no turn through the gate.

    ``nameless`` answers were never in the owed table: errors about lines without a usable id.
    ``counted`` ones are out of it already: somebody was about to put them through the gate.
    """

    request_id: RequestId
    frame: bytes
    nameless: bool = False
    counted: bool = False


class AfterAnswers(NamedTuple):
    """To the responder: call ``go``, which must not wait, when all answers before it are out."""

    go: Callable[[], None]


ResponderMessage: TypeAlias = Respond | AfterAnswers


class Incoming(NamedTuple):
    """Reader to router: one decoded message and its place in the order of reading."""

    seq: int
    message: Request | Notification | Result | Failure


class CancelRead(NamedTuple):
    """Reader to router: a cancel was read at ``seq``; it overtakes what is queued.

    It names a session (``session/cancel``) or a request (``$/cancel_request``), and counts for
    prompts that were read before it, never for later ones.
    """

    seq: int
    session_id: str | None = None
    request_id: RequestId = None
    by_request: bool = False

    @property
    def urgent(self) -> bool:
        """It travels in the control lane."""
        return True


class SessionOpened(NamedTuple):
    """Opener to router: the runtime agreed; the answer is about to leave."""

    opened: OpenedSession


class SessionAnswered(NamedTuple):
    """Opener to router: the answer that names the session has left; turns may start."""

    session_id: str


class SessionRefused(NamedTuple):
    """Opener to router: the session can't be opened."""

    request_id: RequestId
    session_id: str | None
    error: ProtocolError


class TurnAnswered(NamedTuple):
    """A turn's speaker to router: the turn's last word has left, the next one may start."""

    turn_id: str


class TurnWished(NamedTuple):
    """A session's own threads to router: it wants a turn that no request asks for."""

    session_id: str


class EndTurns(NamedTuple):
    """Shutdown to router: cancel what runs, start nothing, tell when all is over."""

    hard: bool = False

    @property
    def urgent(self) -> bool:
        """It travels in the control lane."""
        return True


RouterMessage: TypeAlias = (
    Incoming
    | CancelRead
    | SessionOpened
    | SessionAnswered
    | SessionRefused
    | TurnAnswered
    | TurnWished
    | EndTurns
)
