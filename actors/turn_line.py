"""The line of turns: which one runs, which come next, which of them a cancel hits.

Pure.  Two kinds stand in it: prompts, in the order of reading, and turns that a session begins by
itself, which owe nobody an answer and go first.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from protocol.jsonrpc import id_key
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.messages import CancelRead
    from protocol.acp.prompts import Prompt
    from protocol.jsonrpc import RequestId


class Turn(NamedTuple):
    """One turn on its way: of the prompt that was the ``seq``-th thing read, or a session's own."""

    turn_id: str
    request_id: RequestId
    seq: int
    session_id: str
    prompt: Prompt | None
    """None: the session's own turn, which no request asked for."""

    @property
    def is_owed(self) -> bool:
        """Whether a request waits for its end."""
        return self.prompt is not None


class TurnLine:
    """The turns of one connection, one at a time."""

    def __init__(self) -> None:
        """Start with none."""
        self.running: dict[str, Turn] = {}
        self.waiting: deque[Turn] = deque()
        """Prompts, the oldest first."""
        self._wishes: dict[str, None] = {}
        """Sessions that want a turn of their own, the oldest wish first."""
        self._numbered = 0

    def serves_a_prompt(self, owes: Callable[[str], bool]) -> bool:
        """Tell whether a prompt's turn waits, or runs and, by ``owes``, is not answered yet.

        A client that has its answer may send the next prompt before we hear that the turn is over.
        """
        running = self.running.values()
        return bool(self.waiting) or any(each.is_owed and owes(each.turn_id) for each in running)

    def add(self, request_id: RequestId, seq: int, session_id: str, prompt: Prompt) -> None:
        """Let a prompt wait for its turn."""
        self.waiting.append(self._turn(request_id, seq, session_id, prompt))

    def wish(self, session_id: str) -> None:
        """Let a session have a turn of its own; it is one turn, however often it is wished for."""
        self._wishes[session_id] = None

    def start(self, may_start: Callable[[str], bool]) -> Turn | None:
        """Take the next turn if none runs; ``may_start`` is asked about its session."""
        if self.running:
            return None
        turn = self._own_turn(may_start)
        if turn is None and self.waiting and may_start(self.waiting[0].session_id):
            turn = self.waiting.popleft()
        if turn is not None:
            self.running[turn.turn_id] = turn
        return turn

    def ended(self, turn_id: str) -> bool:
        """Forget a running turn; False when it was forgotten before."""
        return self.running.pop(turn_id, None) is not None

    def hit(self, read: CancelRead) -> tuple[list[Turn], list[Turn]]:
        """Return the running turns that a cancel means, and take out the waiting ones.

        A wish that the session has is dropped with them: whoever cancels wants quiet.
        """
        running = [turn for turn in self.running.values() if _hits(read, turn)]
        waiting = [turn for turn in self.waiting if _hits(read, turn)]
        for turn in waiting:
            self.waiting.remove(turn)
        if not read.by_request and read.session_id is not None:
            self._wishes.pop(read.session_id, None)
        return running, waiting

    def take(self, session_id: str) -> list[Turn]:
        """Take out the prompts of a session that wait."""
        taken = [turn for turn in self.waiting if turn.session_id == session_id]
        self.waiting = deque(turn for turn in self.waiting if turn.session_id != session_id)
        return taken

    def empty(self) -> list[Turn]:
        """Take out all that waits, wishes too, and return the prompts."""
        self._wishes.clear()
        waiting, self.waiting = self.waiting, deque()
        return list(waiting)

    def _own_turn(self, may_start: Callable[[str], bool]) -> Turn | None:
        for session_id in self._wishes:
            if may_start(session_id):
                del self._wishes[session_id]
                return self._turn(None, 0, session_id, None)
        return None

    def _turn(
        self, request_id: RequestId, seq: int, session_id: str, prompt: Prompt | None
    ) -> Turn:
        self._numbered += 1
        return Turn(f"t{self._numbered}", request_id, seq, session_id, prompt)


def _hits(read: CancelRead, turn: Turn) -> bool:
    """Tell whether a cancel means a turn: one that was asked for before it.

    A session's own turn was not read at any time, so each cancel of its session that gets here
    while it runs means it.
    """
    if turn.seq >= read.seq:
        return False
    if read.by_request:
        return turn.is_owed and id_key(turn.request_id) == id_key(read.request_id)
    return turn.session_id == read.session_id
