"""`session/update` as a client sees it: lines' params to the values of `protocol.acp.updates`.

Reads leniently: an agent may know more than we do.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

from protocol.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    AvailableCommand,
    AvailableCommands,
    Cost,
    Location,
    PlanEntry,
    PlanPriority,
    PlanStatus,
    PlanUpdate,
    ToolCall,
    ToolCallUpdate,
    ToolContent,
    ToolDiff,
    ToolKind,
    ToolStatus,
    ToolText,
    Update,
    UsageUpdate,
    UserMessageChunk,
)
from protocol.members import (
    JsonObject,
    as_list,
    as_object,
    is_list,
    is_object,
    meta_of,
    optional_int,
    optional_text,
    required_text,
)
from protocol.values import frozen


@frozen
class OtherUpdate:
    """An update that we don't know, or can't read; ``kind`` is empty if it has none."""

    kind: str
    members: JsonObject


SeenUpdate: TypeAlias = Update | OtherUpdate


@frozen
class SessionUpdate:
    """One ``session/update``."""

    session_id: str
    update: SeenUpdate


def parse_session_update(params: JsonObject) -> SessionUpdate:
    """Read the params of ``session/update``.

    Raises:
        InvalidParams: ``sessionId`` is no text.

    """
    members = as_object(params.get("update"))
    kind = optional_text(members, "sessionUpdate") or ""
    update = _update(kind, members) or OtherUpdate(kind, members)
    return SessionUpdate(required_text(params, "sessionId"), update)


def _update(kind: str, members: JsonObject) -> Update | None:
    match kind:
        case "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk":
            return _chunk(kind, members)
        case "tool_call" | "tool_call_update":
            return _tool_call(kind, members)
        case "plan":
            entries = (_entry(item) for item in as_list(members.get("entries")))
            return PlanUpdate(tuple(entry for entry in entries if entry is not None))
        case "available_commands_update":
            commands = (_command(item) for item in as_list(members.get("availableCommands")))
            return AvailableCommands(tuple(item for item in commands if item is not None))
        case "usage_update":
            return _usage(members)
        case _:
            return None


def _chunk(kind: str, members: JsonObject) -> Update | None:
    content = as_object(members.get("content"))
    text = optional_text(content, "text")
    if content.get("type") != "text" or text is None:
        return None
    message_id = optional_text(members, "messageId") or ""
    match kind:
        case "agent_message_chunk":
            return AgentMessageChunk(text, message_id)
        case "agent_thought_chunk":
            return AgentThoughtChunk(text, message_id)
        case _:
            return UserMessageChunk(text, message_id)


def _tool_call(kind: str, members: JsonObject) -> Update | None:
    call_id, title = optional_text(members, "toolCallId"), optional_text(members, "title")
    if call_id is None:
        return None
    if kind == "tool_call_update":
        return read_tool_call_update(call_id, members)
    if title is None:
        return None
    return ToolCall(
        tool_call_id=call_id,
        title=title,
        kind=_tool_kind(members),
        status=_tool_status(members),
        raw_input=members.get("rawInput"),
        raw_output=members.get("rawOutput"),
        content=_contents(members),
        locations=_locations(members),
        meta=meta_of(members) or None,
    )


def read_tool_call_update(call_id: str, members: JsonObject) -> ToolCallUpdate:
    """Read a tool call's members; what can't be read counts as not sent."""
    return ToolCallUpdate(
        tool_call_id=call_id,
        title=optional_text(members, "title"),
        kind=_tool_kind(members),
        status=_tool_status(members),
        raw_input=members.get("rawInput"),
        raw_output=members.get("rawOutput"),
        content=_contents(members),
        locations=_locations(members),
        meta=meta_of(members) or None,
    )


def _tool_kind(members: JsonObject) -> ToolKind | None:
    return next((kind for kind in get_args(ToolKind) if kind == members.get("kind")), None)


def _tool_status(members: JsonObject) -> ToolStatus | None:
    known = get_args(ToolStatus)
    return next((status for status in known if status == members.get("status")), None)


def _contents(members: JsonObject) -> tuple[ToolContent, ...] | None:
    listed = members.get("content")
    if not is_list(listed):
        return None
    parts = (_content(item) for item in listed if is_object(item))
    return tuple(part for part in parts if part is not None)


def _content(item: JsonObject) -> ToolContent | None:
    block = as_object(item.get("content"))
    text, path = optional_text(block, "text"), optional_text(item, "path")
    new_text = optional_text(item, "newText")
    match item.get("type"):
        case "content" if block.get("type") == "text" and text is not None:
            return ToolText(text)
        case "diff" if path is not None and new_text is not None:
            return ToolDiff(path, optional_text(item, "oldText"), new_text)
        case _:
            return None


def _locations(members: JsonObject) -> tuple[Location, ...] | None:
    listed = members.get("locations")
    if not is_list(listed):
        return None
    places = [(optional_text(as_object(p), "path"), as_object(p)) for p in listed]
    return tuple(Location(path, optional_int(p, "line")) for path, p in places if path is not None)


def _entry(item: object) -> PlanEntry | None:
    entry = as_object(item)
    content = optional_text(entry, "content")
    if content is None:
        return None
    priority, status = entry.get("priority"), entry.get("status")
    return PlanEntry(
        content,
        next((known for known in get_args(PlanPriority) if known == priority), "medium"),
        next((known for known in get_args(PlanStatus) if known == status), "pending"),
    )


def _command(item: object) -> AvailableCommand | None:
    command = as_object(item)
    name, description = optional_text(command, "name"), optional_text(command, "description")
    if name is None or description is None:
        return None
    return AvailableCommand(
        name, description, optional_text(as_object(command.get("input")), "hint")
    )


def _usage(members: JsonObject) -> UsageUpdate | None:
    used, size = optional_int(members, "used"), optional_int(members, "size")
    if used is None or size is None:
        return None
    cost = as_object(members.get("cost"))
    amount, currency = cost.get("amount"), optional_text(cost, "currency")
    if isinstance(amount, int | float) and currency is not None:
        return UsageUpdate(used, size, Cost(amount, currency))
    return UsageUpdate(used, size)
