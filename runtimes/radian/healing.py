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


def heal(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield ``entries`` with exactly one result for each call, before the next message or turn.

    What is made up stands under the number and time of its call.
    """
    open_calls: dict[str | None, list[tuple[Entry, ToolCall]]] = {}
    for entry in entries:
        match entry.record:
            case AssistantMessage() as message:
                yield from _made_up(open_calls.pop(message.agent, []))
                open_calls[message.agent] = [(entry, call) for call in calls_of(message)]
            case ToolResult() as result:
                if not _close(open_calls.get(result.agent, []), result.call_id):
                    continue
            case TurnStarted() | TurnEnded():
                for left in open_calls.values():
                    yield from _made_up(left)
                open_calls.clear()
            case _:
                pass
        yield entry
    for left in open_calls.values():
        yield from _made_up(left)


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
