"""Requests of theirs and their one answer each.  Pure: whoever shares a table holds a lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from protocol.jsonrpc import id_key

if TYPE_CHECKING:
    from protocol.jsonrpc import IdKey, RequestId

OwedState: TypeAlias = Literal["owed", "claimed", "answering"]


class OwedTable:
    """What we owe the client: each request from its reading until its answer is accepted.

    A request is *owed*, then *claimed* by a turn (unless it belongs to none), then *answering* once
    someone settled it, then gone.  Settling works once, so that of all who might answer exactly one
    does.
    """

    def __init__(self) -> None:
        """Start with nothing owed."""
        self._entries: dict[IdKey, _Entry] = {}
        self._anonymous = 0

    @property
    def unanswered(self) -> int:
        """How many answers have not been accepted by the gate yet, those without an id included."""
        return len(self._entries) + self._anonymous

    @property
    def unclaimed_count(self) -> int:
        """How many of them no turn is working on."""
        claimed = sum(entry.state == "claimed" for entry in self._entries.values())
        return self.unanswered - claimed

    def enter(self, request_id: RequestId, seq: int) -> bool:
        """Note a request, the ``seq``-th thing read.  False: its id is in flight already."""
        key = id_key(request_id)
        if key in self._entries:
            return False
        self._entries[key] = _Entry(request_id, seq)
        return True

    def enter_anonymous(self) -> None:
        """Count an answer that has no entry: an error with id null, or about a doubled id."""
        self._anonymous += 1

    def claim(self, request_id: RequestId, turn: str) -> bool:
        """Give a request to a turn.  False: unknown, claimed before, or being answered."""
        entry = self._entries.get(id_key(request_id))
        if entry is None or entry.state != "owed":
            return False
        entry.state, entry.turn = "claimed", turn
        return True

    def settle(self, request_id: RequestId) -> bool:
        """Take the right to answer.  True once for a request; whoever got it must answer."""
        entry = self._entries.get(id_key(request_id))
        if entry is None or entry.state == "answering":
            return False
        entry.state = "answering"
        return True

    def sent(self, request_id: RequestId) -> None:
        """Forget a request whose answer the gate has accepted.

        Call it before the answer's bytes can leave: the client may then use the id again.
        """
        self._entries.pop(id_key(request_id), None)

    def sent_anonymous(self) -> None:
        """Count down: an answer without an entry was accepted by the gate."""
        self._anonymous = max(0, self._anonymous - 1)

    def state(self, request_id: RequestId) -> OwedState | None:
        """Tell how far a request is; None once it is gone."""
        entry = self._entries.get(id_key(request_id))
        return None if entry is None else entry.state

    def seq(self, request_id: RequestId) -> int | None:
        """Tell when a request was read, as `enter` was told; None once it is gone."""
        entry = self._entries.get(id_key(request_id))
        return None if entry is None else entry.seq

    def unclaimed(self) -> tuple[RequestId, ...]:
        """List the requests that no turn has claimed and nobody answers, oldest first."""
        return tuple(e.request_id for e in self._entries.values() if e.state == "owed")

    def owed_by(self, turn: str) -> tuple[RequestId, ...]:
        """List the requests that ``turn`` has claimed and nobody answers yet, oldest first."""
        return tuple(
            e.request_id for e in self._entries.values() if e.state == "claimed" and e.turn == turn
        )


class _Entry:
    """One request.  No dataclass: this module is loaded before the handshake."""

    __slots__ = ("request_id", "seq", "state", "turn")

    def __init__(self, request_id: RequestId, seq: int) -> None:
        """Start as owed."""
        self.request_id = request_id
        self.seq = seq
        self.state: OwedState = "owed"
        self.turn: str | None = None
