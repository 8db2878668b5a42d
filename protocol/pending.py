"""Requests of ours and who waits for their answers.  Pure: whoever shares a table holds a lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from protocol.jsonrpc import RequestId

T = TypeVar("T")


class PendingTable(Generic[T]):
    """Our open questions, each with a fresh id and the owner that it belongs to."""

    def __init__(self) -> None:
        """Start with no question asked."""
        # Ids count from 1: some clients take 0 for "no id".
        self._next_id = 1
        self._open: dict[int, tuple[T, Hashable]] = {}

    def __len__(self) -> int:
        """How many questions are open."""
        return len(self._open)

    def issue(self, what: T, owner: Hashable) -> int:
        """Open a question of ``owner``'s and give it an id that was never used before."""
        request_id = self._next_id
        self._next_id += 1
        self._open[request_id] = (what, owner)
        return request_id

    def take(self, request_id: RequestId) -> T | None:
        """Close the question that an answer names.

        None: unknown, answered before, dropped, or an id of another type than ours (``"1"``,
        ``1.0``); such an answer is passed over.
        """
        if type(request_id) is not int:
            return None
        found = self._open.pop(request_id, None)
        return None if found is None else found[0]

    def drop_owner(self, owner: Hashable) -> tuple[tuple[int, T], ...]:
        """Close all questions of ``owner``; answers to them will be late.

        Returns:
            Id and subject of each, oldest first, so that the client can be told.

        """
        dropped = tuple((key, what) for key, (what, of) in self._open.items() if of == owner)
        for key, _ in dropped:
            del self._open[key]
        return dropped
