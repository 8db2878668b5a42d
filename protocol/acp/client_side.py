"""The other end of the protocol: what a client sends, and what it reads of an agent.

For our own client and for tests; `protocol.acp.seen` reads the updates.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, get_args

from protocol.acp.permissions import OptionKind, PermissionOption
from protocol.acp.seen import read_tool_call_update
from protocol.errors import InvalidParams
from protocol.handshake import PROTOCOL_VERSION, AgentCapabilities, AgentInfo
from protocol.members import (
    JsonObject,
    as_list,
    as_object,
    is_object,
    meta_of,
    optional_int,
    optional_text,
    required_text,
)
from protocol.values import frozen

if TYPE_CHECKING:
    from protocol.acp.updates import ToolCallUpdate
    from protocol.jsonrpc import RequestId


@frozen
class PermissionQuestion:
    """The agent asks; answer with `selected_outcome` or `cancelled_outcome`."""

    session_id: str
    tool_call: ToolCallUpdate
    options: tuple[PermissionOption, ...]
    meta: JsonObject = field(default_factory=dict[str, Any])


@frozen
class PromptAnswer:
    """How a turn ended; ``stop_reason`` may lie outside of v1's set."""

    stop_reason: str
    meta: JsonObject = field(default_factory=dict[str, Any])


@frozen
class AgentSaid:
    """The agent's side of the handshake."""

    protocol_version: int
    capabilities: AgentCapabilities
    info: AgentInfo | None = None


def initialize_params(name: str, version: str) -> JsonObject:
    """Introduce a client that offers no files, no terminal and no forms."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
        },
        "clientInfo": {"name": name, "version": version},
    }


def new_session_params(cwd: str) -> JsonObject:
    """Ask for a new session without MCP servers."""
    return {"cwd": cwd, "mcpServers": []}


def load_session_params(session_id: str, cwd: str) -> JsonObject:
    """Ask for a stored session and its replay."""
    return {"sessionId": session_id, "cwd": cwd, "mcpServers": []}


def resume_session_params(session_id: str, cwd: str) -> JsonObject:
    """Ask to go on with a session, without a replay."""
    return {"sessionId": session_id, "cwd": cwd, "mcpServers": []}


def prompt_params(session_id: str, text: str, meta: JsonObject | None = None) -> JsonObject:
    """Prompt with one text."""
    params: JsonObject = {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
    return {**params, "_meta": meta} if meta else params


def cancel_params(session_id: str) -> JsonObject:
    """Cancel a session's turn."""
    return {"sessionId": session_id}


def cancel_request_params(request_id: RequestId) -> JsonObject:
    """Cancel one request (``$/cancel_request``)."""
    return {"requestId": request_id}


def selected_outcome(option_id: str) -> JsonObject:
    """Answer a permission request with one of its options."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def cancelled_outcome() -> JsonObject:
    """Answer a permission request whose turn was cancelled."""
    return {"outcome": {"outcome": "cancelled"}}


def parse_initialize_result(value: object) -> AgentSaid:
    """Read the agent's capabilities; markers that are no objects count as absent.

    Raises:
        InvalidParams: ``protocolVersion`` is no integer.

    """
    result = as_object(value)
    version = optional_int(result, "protocolVersion")
    if version is None:
        message = "protocolVersion must be an integer"
        raise InvalidParams(message)
    info = as_object(result.get("agentInfo"))
    name, own_version = optional_text(info, "name"), optional_text(info, "version")
    known = name is not None and own_version is not None
    return AgentSaid(
        version,
        _capabilities(as_object(result.get("agentCapabilities"))),
        AgentInfo(name or "", own_version or "", optional_text(info, "title")) if known else None,
    )


def parse_new_session_result(value: object) -> str:
    """Read the new session's id.

    Raises:
        InvalidParams: There is none.

    """
    return required_text(as_object(value), "sessionId")


def parse_prompt_result(value: object) -> PromptAnswer:
    """Read how a turn ended.

    Raises:
        InvalidParams: ``stopReason`` is no text.

    """
    result = as_object(value)
    return PromptAnswer(required_text(result, "stopReason"), meta_of(result))


def parse_permission_request(params: JsonObject) -> PermissionQuestion:
    """Read a question; options that can't be read are left out.

    Raises:
        InvalidParams: ``sessionId`` or ``toolCall.toolCallId`` is no text.

    """
    call = as_object(params.get("toolCall"))
    options = (_option(item) for item in as_list(params.get("options")) if is_object(item))
    return PermissionQuestion(
        required_text(params, "sessionId"),
        read_tool_call_update(required_text(call, "toolCallId", "toolCall."), call),
        tuple(option for option in options if option is not None),
        meta_of(params),
    )


def _option(item: JsonObject) -> PermissionOption | None:
    option_id, name = optional_text(item, "optionId"), optional_text(item, "name")
    kind = next((known for known in get_args(OptionKind) if known == item.get("kind")), None)
    if option_id is None or name is None or kind is None:
        return None
    return PermissionOption(option_id, name, kind)


def _capabilities(said: JsonObject) -> AgentCapabilities:
    prompt, mcp = as_object(said.get("promptCapabilities")), as_object(said.get("mcpCapabilities"))
    session = [
        name
        for name, marker in as_object(said.get("sessionCapabilities")).items()
        if is_object(marker)
    ]
    return AgentCapabilities(
        load_session=said.get("loadSession") is True,
        resume="resume" in session,
        close="close" in session,
        list_sessions="list" in session,
        delete="delete" in session,
        image=prompt.get("image") is True,
        audio=prompt.get("audio") is True,
        embedded_context=prompt.get("embeddedContext") is True,
        mcp_http=mcp.get("http") is True,
        mcp_sse=mcp.get("sse") is True,
        meta=meta_of(said) or None,
    )
