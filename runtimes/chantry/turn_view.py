"""One turn after the other as it is seen: the agent's updates in, things to show out.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.acp.seen import OtherUpdate, parse_session_update
from protocol.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    AvailableCommands,
    PlanUpdate,
    ToolCall,
    ToolCallUpdate,
    UsageUpdate,
    UserMessageChunk,
)
from protocol.errors import ProtocolError
from runtimes.chantry.board import Board
from runtimes.chantry.shown import Changed, Note, Said, TurnOver

if TYPE_CHECKING:
    from collections.abc import Callable

    from protocol.acp.seen import SeenUpdate
    from protocol.members import JsonObject
    from runtimes.chantry.shown import Shown


MAX_NAMES = 10
"""Commands named of an agent that has many."""


class TurnView:
    """The board of the running turn, and what the agent said about its costs."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start between turns; ``clock`` gives seconds on a monotonic clock."""
        self._clock = clock
        self._board: Board | None = None
        self._usage: UsageUpdate | None = None

    def begin(self) -> None:
        """Start a turn with an empty board."""
        self._board = Board()

    def title_of(self, call_id: str) -> str:
        """Find what a call of this turn is called."""
        row = self._board.calls.get(call_id) if self._board else None
        return row.title if row else call_id

    def end(self, outcome: str) -> tuple[Shown, ...]:
        """End the turn, if one runs; calls still open are marked as stopped."""
        if self._board is None:
            return ()
        board, self._board = self._board, None
        stopped = tuple(board.stop(self._clock()))
        return (TurnOver(board, stopped, outcome + _usage_words(self._usage)),)

    def take(self, params: JsonObject, session_id: str) -> tuple[Shown, ...]:
        """Take the params of one ``session/update``; what we can't show becomes a note."""
        try:
            seen = parse_session_update(params)
        except ProtocolError as error:
            return (Note(f"an update that can't be read: {error.message}"),)
        if seen.session_id != session_id:
            return (Note(f"an update for another session, {seen.session_id}"),)
        return self._shown(seen.update)

    def _shown(self, update: SeenUpdate) -> tuple[Shown, ...]:
        match update:
            case AgentMessageChunk(text, _):
                return (Said(text, "agent"),)
            case AgentThoughtChunk(text, _):
                return (Said(text, "thought"),)
            case UserMessageChunk(text, _):
                return (Said(text, "user"),)
            case ToolCall() | ToolCallUpdate() | PlanUpdate():
                return self._changed(update)
            case AvailableCommands(commands):
                return (Note(f"commands: {_names([each.name for each in commands])}"),)
            case UsageUpdate():
                self._usage = update
                return ()
            case OtherUpdate(kind, _):
                return (Note(f"update {kind or 'without a kind'}, not shown"),)

    def _changed(self, update: ToolCall | ToolCallUpdate | PlanUpdate) -> tuple[Shown, ...]:
        if self._board is None:
            return (Note(f"{_name(update)} outside of a turn"),)
        rows = tuple(self._board.apply(update, self._clock()))
        return (Changed(self._board, rows),) if rows else ()


def _names(names: list[str]) -> str:
    """List names, all of them only where they are few."""
    if len(names) <= MAX_NAMES:
        return ", ".join(names) or "none"
    return f"{', '.join(names[:MAX_NAMES])}, and {len(names) - MAX_NAMES} more"


def _name(update: ToolCall | ToolCallUpdate | PlanUpdate) -> str:
    if isinstance(update, PlanUpdate):
        return "a plan"
    return f"a change of {update.title or update.tool_call_id}"


def _usage_words(usage: UsageUpdate | None) -> str:
    if usage is None:
        return ""
    words = f", {usage.used:,} of {usage.size:,} tokens"
    if usage.cost is not None:
        words += f", {usage.cost.amount:.4g} {usage.cost.currency}"
    return words
