"""`session/update`: what a turn shows while it runs, as values and as lines.  Pure."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never

from protocol.acp.cutting import MAX_UPDATE_BYTES, json_size, shorten_raw, shorten_text
from protocol.jsonrpc import encode, encode_text
from protocol.values import frozen, slotted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from protocol.members import JsonObject

ToolKind: TypeAlias = Literal[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
]
ToolStatus: TypeAlias = Literal["pending", "in_progress", "completed", "failed"]
PlanPriority: TypeAlias = Literal["high", "medium", "low"]
PlanStatus: TypeAlias = Literal["pending", "in_progress", "completed"]

_PART_BYTES = MAX_UPDATE_BYTES // 5
"""What each of raw input, raw output and content keeps when a line came out too long."""
_TITLE_BYTES = 4096
_MOST_PARTS = 64
"""Parts of content, and places, that are kept then; more would leave no room for any."""
_REQUEST_BYTES = MAX_UPDATE_BYTES * 4 // 5
"""A tool call in a request, which has more to carry."""
_MAX_LINE = 2**32 - 1
"""The last line that typed clients have room for."""
_ID_CHARACTERS = 256
"""Of a call's id.  Models make them, and some ids hold a whole signature."""


# Not frozen, though nobody changes one: a frozen one takes three times as long to make, a fifth of
# what a streamed update costs in all.
@slotted
class AgentMessageChunk:
    """A piece of the answer; the same ``message_id`` is the same message.  Cut long text first."""

    text: str
    message_id: str

    def __hash__(self) -> int:
        """Hash as the others do."""
        return hash((self.text, self.message_id))


@frozen
class AgentThoughtChunk:
    """A piece of reasoning.  Cut long text first."""

    text: str
    message_id: str


@frozen
class UserMessageChunk:
    """A piece of what the user wrote; for replays only.  Cut long text first."""

    text: str
    message_id: str


@frozen
class ToolText:
    """Text in a tool call."""

    text: str


@frozen
class ToolDiff:
    """A changed file: absolute ``path``; ``old_text`` is None for a new file."""

    path: str
    old_text: str | None
    new_text: str


ToolContent: TypeAlias = ToolText | ToolDiff


@frozen
class Location:
    """A place in a file: absolute ``path``, ``line`` from 1."""

    path: str
    line: int | None = None


@frozen
class ToolCall:
    """Open a tool call; ids are unique in the session.  None is not sent.  Made by keywords."""

    tool_call_id: str
    title: str
    kind: ToolKind | None = None
    status: ToolStatus | None = None
    raw_input: Any = None
    raw_output: Any = None
    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None
    meta: JsonObject | None = None


@frozen
class ToolCallUpdate:
    """Change an open tool call, as `ToolCall` opens it; None leaves what was, tuples replace."""

    tool_call_id: str
    title: str | None = None
    kind: ToolKind | None = None
    status: ToolStatus | None = None
    raw_input: Any = None
    raw_output: Any = None
    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None
    meta: JsonObject | None = None


@frozen
class AvailableCommand:
    """A slash command; ``hint`` says what to type after it."""

    name: str
    description: str
    hint: str | None = None


@frozen
class AvailableCommands:
    """The whole list of slash commands."""

    commands: tuple[AvailableCommand, ...]


@frozen
class Cost:
    """Money: ``currency`` as in ISO 4217."""

    amount: float
    currency: str


@frozen
class UsageUpdate:
    """Tokens in the context and its size.  Don't send it while the size is unknown."""

    used: int
    size: int
    cost: Cost | None = None


@frozen
class PlanEntry:
    """One line of a plan."""

    content: str
    priority: PlanPriority = "medium"
    status: PlanStatus = "pending"


@frozen
class PlanUpdate:
    """The whole plan; the client replaces what it had."""

    entries: tuple[PlanEntry, ...]


Update: TypeAlias = (
    AgentMessageChunk
    | AgentThoughtChunk
    | UserMessageChunk
    | ToolCall
    | ToolCallUpdate
    | AvailableCommands
    | UsageUpdate
    | PlanUpdate
)


def encode_update(session_id: str, update: Update) -> bytes:
    """Write one whole ``session/update`` line, newline included.

    A tool call whose line would pass `MAX_UPDATE_BYTES` is shortened with a visible note.  Chunks
    are not: only the caller can make several messages of one, see `cut_text`.
    """
    if isinstance(update, AgentMessageChunk):
        return _message_line(session_id, update)
    line = _line(session_id, update)
    if len(line) > MAX_UPDATE_BYTES and isinstance(update, ToolCall | ToolCallUpdate):
        return _line(session_id, _shortened(update))
    return line


def encode_updates(session_id: str, updates: Iterable[Update]) -> list[bytes]:
    """Write a line for each update; a run of chunks of one message looks its frame up once."""
    lines: list[bytes] = []
    message_id: str | None = None
    before = after = b""
    for update in updates:
        if type(update) is not AgentMessageChunk:
            lines.append(encode_update(session_id, update))
            continue
        if update.message_id != message_id:
            message_id = update.message_id
            before, after = _around_text(session_id, message_id)
        lines.append(before + encode_text(update.text) + after)
    return lines


def update_to_wire(update: Update) -> JsonObject:
    """Build the ``update`` member.  The first cases are by far the most frequent."""
    match update:
        case AgentMessageChunk():
            return _chunk("agent_message_chunk", update.text, update.message_id)
        case AgentThoughtChunk():
            return _chunk("agent_thought_chunk", update.text, update.message_id)
        case ToolCallUpdate():
            return {"sessionUpdate": "tool_call_update", **tool_call_to_wire(update)}
        case ToolCall():
            return {"sessionUpdate": "tool_call", **tool_call_to_wire(update)}
        case UserMessageChunk():
            return _chunk("user_message_chunk", update.text, update.message_id)
        case UsageUpdate():
            return _usage(update)
        case PlanUpdate():
            return {"sessionUpdate": "plan", "entries": [_entry(e) for e in update.entries]}
        case AvailableCommands():
            commands = [_command(command) for command in update.commands]
            return {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    assert_never(update)


def tool_call_to_wire(call: ToolCall | ToolCallUpdate) -> JsonObject:
    """Build a tool call's members; a permission request carries them too."""
    content, locations = call.content, call.locations
    members = {
        "toolCallId": _short_id(call.tool_call_id),
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "rawInput": call.raw_input,
        "rawOutput": call.raw_output,
        "content": None if content is None else [_content(part) for part in content],
        "locations": None if locations is None else [_location(place) for place in locations],
        "_meta": call.meta,
    }
    return {name: value for name, value in members.items() if value is not None}


def within_limits(call: ToolCall | ToolCallUpdate) -> ToolCall | ToolCallUpdate:
    """Shorten a tool call that is too long for one line; for those that travel in a request."""
    return call if json_size(tool_call_to_wire(call)) <= _REQUEST_BYTES else _shortened(call)


def _message_line(session_id: str, chunk: AgentMessageChunk) -> bytes:
    """Write the line that is sent most: only its text is encoded, what is around it is kept."""
    before, after = _around_text(session_id, chunk.message_id)
    return before + encode_text(chunk.text) + after


@lru_cache(maxsize=16)
def _around_text(session_id: str, message_id: str) -> tuple[bytes, bytes]:
    """Return what stands before and after the text of a message's chunks."""
    line = _line(session_id, AgentMessageChunk("", message_id))
    # Quotes inside of an id are escaped, so this can only be the member itself.
    before, found, after = line.partition(b'"text":""')
    return before + found[:-2], after


def _line(session_id: str, update: Update) -> bytes:
    return encode(
        {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": session_id, "update": update_to_wire(update)},
        }
    )


def _chunk(kind: str, text: str, message_id: str) -> JsonObject:
    return {
        "sessionUpdate": kind,
        "content": {"type": "text", "text": text},
        "messageId": message_id,
    }


def _content(part: ToolContent) -> JsonObject:
    if isinstance(part, ToolText):
        return {"type": "content", "content": {"type": "text", "text": part.text}}
    return {"type": "diff", "path": part.path, "oldText": part.old_text, "newText": part.new_text}


def _short_id(call_id: str) -> str:
    """Keep an id, or the beginning of one that is too long for a line, with a digest of it all."""
    if len(call_id) <= _ID_CHARACTERS:
        return call_id
    from hashlib import sha256

    digest = sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{call_id[: _ID_CHARACTERS - 1 - len(digest)]}-{digest}"


def _location(place: Location) -> JsonObject:
    if place.line is None or not 1 <= place.line <= _MAX_LINE:
        return {"path": place.path}
    return {"path": place.path, "line": place.line}


def _command(command: AvailableCommand) -> JsonObject:
    members: JsonObject = {"name": command.name, "description": command.description}
    return members if command.hint is None else {**members, "input": {"hint": command.hint}}


def _usage(usage: UsageUpdate) -> JsonObject:
    members: JsonObject = {"sessionUpdate": "usage_update", "used": usage.used, "size": usage.size}
    if usage.cost is None:
        return members
    return {**members, "cost": {"amount": usage.cost.amount, "currency": usage.cost.currency}}


def _entry(entry: PlanEntry) -> JsonObject:
    return {"content": entry.content, "priority": entry.priority, "status": entry.status}


def _shortened(call: ToolCall | ToolCallUpdate) -> ToolCall | ToolCallUpdate:
    """Bring each of the three large parts down to a quarter of the longest line."""
    content = call.content
    if content:
        kept, left_out = content[:_MOST_PARTS], len(content) - _MOST_PARTS
        each = _PART_BYTES // (len(kept) + 1)
        content = tuple(_shortened_content(part, each) for part in kept)
        if left_out > 0:
            content = (*content, ToolText(f"[{left_out} more parts left out]"))
    if call.title is not None:
        call = replace(call, title=shorten_text(call.title, _TITLE_BYTES))
    return replace(
        call,
        raw_input=shorten_raw(call.raw_input, _PART_BYTES),
        raw_output=shorten_raw(call.raw_output, _PART_BYTES),
        content=content,
        locations=None if call.locations is None else _that_fit(call.locations[:_MOST_PARTS]),
    )


def _that_fit(places: tuple[Location, ...]) -> tuple[Location, ...]:
    """Leave out what is too long for any file's name, and what there is no room for."""
    kept: list[Location] = []
    left = _PART_BYTES
    for place in places:
        size = json_size(_location(place))
        if size <= left:
            kept.append(place)
            left -= size
    return tuple(kept)


def _shortened_content(part: ToolContent, limit_bytes: int) -> ToolContent:
    if isinstance(part, ToolText):
        return ToolText(shorten_text(part.text, limit_bytes))
    if json_size(part.path) > limit_bytes // 2:
        return ToolText("[a change of a file whose path is too long to be shown]")
    limit_bytes -= json_size(part.path)
    old = None if part.old_text is None else shorten_text(part.old_text, limit_bytes // 2)
    return ToolDiff(part.path, old, shorten_text(part.new_text, limit_bytes // 2))
