"""Asking the client for permission.  Pure.  Whatever is not a clear grant is a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from protocol.acp.updates import tool_call_to_wire, within_limits
from protocol.members import JsonObject, is_object
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from protocol.acp.updates import ToolCall, ToolCallUpdate

OptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


@frozen
class PermissionOption:
    """One answer to choose; ids are unique in their request."""

    option_id: str
    name: str
    kind: OptionKind


@frozen
class Selected:
    """The client chose an option."""

    option_id: str


@frozen
class CancelledOutcome:
    """The client gave no answer because the turn was cancelled, which this also does."""


@frozen
class Malformed:
    """No answer that we can read, or an option that was not offered: a refusal."""


PermissionOutcome: TypeAlias = Selected | CancelledOutcome | Malformed


def permission_request(
    session_id: str,
    tool_call: ToolCall | ToolCallUpdate,
    options: Sequence[PermissionOption],
    meta: JsonObject | None = None,
) -> JsonObject:
    """Build the params of ``session/request_permission``; ``tool_call`` was opened before."""
    params: JsonObject = {
        "sessionId": session_id,
        "toolCall": tool_call_to_wire(within_limits(tool_call)),
        "options": [
            {"optionId": option.option_id, "name": option.name, "kind": option.kind}
            for option in options
        ],
    }
    return {**params, "_meta": meta} if meta else params


def parse_permission_outcome(
    value: object, offered: Collection[str] | None = None
) -> PermissionOutcome:
    """Read the result of a permission request.

    With ``offered``, the ids of its options, any other id is malformed.
    """
    outcome = value.get("outcome") if is_object(value) else None
    if not is_object(outcome):
        return Malformed()
    option_id = outcome.get("optionId")
    match outcome.get("outcome"):
        case "cancelled":
            return CancelledOutcome()
        case "selected" if type(option_id) is str and (offered is None or option_id in offered):
            return Selected(option_id)
        case _:
            return Malformed()
