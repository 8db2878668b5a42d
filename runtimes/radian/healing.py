"""Records as if every call had got its result, whatever ended the process.  Pure.

A call without a result gets a failed one, "interrupted"; a result without a call is left out.
Nothing of it is written to the journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.radian.records import (
    AssistantMessage,
    Entry,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INTERRUPTED = "interrupted"
NO_RESULT = "interrupted: what came of this call is not known"


class Healing:
    """Takes records one by one; see `heal`."""

    def __init__(self) -> None:
        """Know of no calls."""
        self._open: dict[str | None, list[tuple[Entry, ToolCall]]] = {}

    def take(self, entry: Entry) -> Iterator[Entry]:
        """Yield what has to come before ``entry``, and ``entry`` unless it is a stray result."""
        match entry.record:
            case AssistantMessage() as message:
                yield from _made_up(self._open.pop(message.agent, []))
                self._open[message.agent] = [(entry, call) for call in calls_of(message)]
            case ToolResult() as result:
                if not _close(self._open.get(result.agent, []), result.call_id):
                    return
            case TurnStarted(agent=None) | TurnEnded(agent=None):
                yield from self.left()
                self._open.clear()
            case TurnStarted(agent=agent) | TurnEnded(agent=agent):
                yield from _made_up(self._open.pop(agent, []))
            case _:
                pass
        yield entry

    def left(self) -> Iterator[Entry]:
        """Yield what would have to come if this were all."""
        for left in self._open.values():
            yield from _made_up(left)


def heal(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield ``entries`` with exactly one result for each call, before the next message or turn.

    What is made up stands under the number and time of its call.
    """
    healing = Healing()
    for entry in entries:
        yield from healing.take(entry)
    yield from healing.left()


def calls_of(message: AssistantMessage) -> tuple[ToolCall, ...]:
    """Return the calls of a message that await a result."""
    if message.superseded:
        return ()
    return tuple(part for part in message.parts if isinstance(part, ToolCall))


def _close(left: list[tuple[Entry, ToolCall]], call_id: str) -> bool:
    """Take the first call with the id out of those that are left; False if there is none."""
    for at, (_, call) in enumerate(left):
        if call.call_id == call_id:
            del left[at]
            return True
    return False


def _made_up(left: list[tuple[Entry, ToolCall]]) -> Iterator[Entry]:
    for (seq, ts, message), call in left:
        assert isinstance(message, AssistantMessage)  # noqa: S101 - only these have calls
        result = ToolResult(
            turn=message.turn,
            call_id=call.call_id,
            status="failed",
            output=NO_RESULT,
            reason=INTERRUPTED,
            agent=message.agent,
        )
        yield Entry(seq, ts, result)
