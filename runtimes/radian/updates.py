"""The events of a turn as updates of the session.  No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from protocol.acp.cutting import cut_text, shorten_raw
from protocol.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    Location,
    ToolCall,
    ToolCallUpdate,
    ToolText,
    Update,
    UsageUpdate,
)
from runtimes.radian import events
from runtimes.radian.shown_diff import shown_diff
from runtimes.radian.tools.full_output import shorten_again

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from protocol.acp.updates import ToolContent
    from runtimes.radian.tools.base import Diff

PART_BYTES = 24 * 1024
"""Each of input, output and shown text of a tool: a line then stays under 60 KiB."""
REASON_BYTES = 1024
"""Room for the words beside an output."""
TAIL_CHARACTERS = 4096
"""Of a command's output, shown while it runs: an update replaces the one before."""

Streamed: TypeAlias = tuple[type[Any], str]
"""What a piece of text belongs to: a kind of update, and the id of a message or call."""
STREAMED_BYTES = 8 * 1024
"""Of one piece of an answer; 64 of them wait for a client that does not read."""


class LiveUpdates:
    """Makes updates of events; knows what was shown.  Used by one thread at a time."""

    def __init__(self) -> None:
        """Begin before the first turn."""
        self._attempts: dict[str, int] = {}
        self._diffs: dict[str, Diff] = {}
        self._tails: dict[str, str] = {}
        self._warnings = 0

    def of(self, items: Sequence[Any]) -> Iterator[Update]:
        """Yield the updates of events, in order; what is an update already passes.

        Pieces of one message that come together are joined.
        """
        pieces: list[str] = []
        begun: Streamed | None = None
        for item in items:
            streamed = self._streamed(item)
            if begun is not None and streamed != begun:
                yield from self._joined(begun, pieces)
                pieces = []
            begun = streamed
            if streamed is not None:
                pieces.append(item.delta)
            else:
                yield from self._single(item)
        if begun is not None:
            yield from self._joined(begun, pieces)

    def _streamed(self, item: Any) -> Streamed | None:
        match item:
            case events.Text(turn, call):
                return AgentMessageChunk, self._message_id(turn, call)
            case events.Reasoning(turn, call):
                return AgentThoughtChunk, self._message_id(turn, call, "-thought")
            case events.ToolOutput(call_id=call_id):
                return ToolCallUpdate, call_id
            case _:
                return None

    def _message_id(self, turn: int, call: int, what: str = "") -> str:
        """Name a message; what another attempt at a call brings is another message."""
        name = message_id(turn, call)
        attempt = self._attempts.get(name)
        return f"{name}{what}" if attempt is None else f"{name}-again-{attempt}{what}"

    def _joined(self, begun: Streamed, pieces: list[str]) -> Iterator[Update]:
        kind, name = begun
        text = "".join(pieces)
        if kind is ToolCallUpdate:
            tail = self._tails[name] = (self._tails.get(name, "") + text)[-TAIL_CHARACTERS:]
            yield ToolCallUpdate(tool_call_id=name, content=(ToolText(tail),))
        else:
            yield from (kind(piece, name) for piece in cut_text(text, STREAMED_BYTES))

    def _single(self, item: Any) -> Iterator[Update]:
        match item:
            case events.ToolCall():
                yield self._tool_call(item)
            case events.Permission(call_id=call_id, decision=decision):
                if decision != "deny":  # a denial is the call's result
                    yield ToolCallUpdate(tool_call_id=call_id, status="in_progress")
            case events.ToolResult():
                yield self._tool_result(item)
            case events.Usage(tokens=tokens, context_window=window):
                if window is not None and not item.summary:
                    yield UsageUpdate(tokens.input_tokens + tokens.output_tokens, window)
            case events.Retry():
                name = message_id(item.turn, item.call)
                self._attempts[name] = item.attempt
                yield from _thought(_retry_line(item), f"{name}-retry-{item.attempt}")
            case events.Compacting():
                name = f"{message_id(item.turn, item.call)}-summary"
                yield AgentThoughtChunk("The conversation is being summarised.\n", name)
            case events.Warning(message):
                self._warnings += 1
                yield from _thought(f"Warning: {message}\n", f"warning-{self._warnings}")
            case events.TurnEnded(turn, error=error):
                self._forget_turn()
                if error:
                    yield from _thought(f"The turn failed: {error}\n", f"{turn}-end")
            case _ if isinstance(item, Update):
                yield item
            case _:
                pass  # the protocol has no word for it

    def _tool_call(self, call: events.ToolCall) -> ToolCall:
        if call.diff is not None:
            self._diffs[call.call_id] = call.diff
        return ToolCall(
            tool_call_id=call.call_id,
            title=call.title,
            kind=call.kind,
            status="pending",
            raw_input=shorten_raw(call.input, PART_BYTES),
            content=None if call.diff is None else (shown_diff(call.diff, PART_BYTES),),
            locations=tuple(Location(each.path, each.line) for each in call.locations) or None,
        )

    def _tool_result(self, result: events.ToolResult) -> ToolCallUpdate:
        diff = self._diffs.pop(result.call_id, None)
        self._tails.pop(result.call_id, None)
        if diff is None or result.status == "failed":
            return finished(result.call_id, result)
        changed = shown_diff(diff, PART_BYTES)
        return finished(result.call_id, result, changed)

    def _forget_turn(self) -> None:
        self._attempts.clear()
        self._diffs.clear()
        self._tails.clear()


def message_id(turn: int, call: int) -> str:
    """Name the message that a call of the model brings; unique in the session."""
    return f"{turn}.{call}"


def finished(call_id: str, result: Any, changed: ToolContent | None = None) -> ToolCallUpdate:
    """Close a call; ``result`` has a status, an output and maybe a reason."""
    text = shorten_again(result.output, PART_BYTES - REASON_BYTES)
    output: dict[str, Any] = {"output": text}
    if result.reason is not None:
        output["reason"] = result.reason
    shown = changed or ToolText(text)
    return ToolCallUpdate(
        tool_call_id=call_id,
        status=result.status,
        raw_output=shorten_raw(output, PART_BYTES),
        content=(shown,),
    )


def _thought(text: str, name: str) -> Iterator[AgentThoughtChunk]:
    return (AgentThoughtChunk(piece, name) for piece in cut_text(text))


def _retry_line(retry: events.Retry) -> str:
    wait_s = retry.delay_ms / 1000
    return f"The model failed ({retry.cause}); trying again in {wait_s:g} s\n"
