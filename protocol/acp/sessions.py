"""Sessions on the wire: opening, loading, resuming and cancelling.  Pure: no path is looked at.

Named tuples, as `session/new` is answered right after the handshake and waits for this import.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocol.errors import InvalidParams
from protocol.jsonrpc import is_request_id
from protocol.members import (
    JsonObject,
    as_list,
    as_object,
    is_list,
    is_object,
    meta_of,
    optional_text,
    required_text,
)
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from protocol.jsonrpc import RequestId

NO_META: Mapping[str, Any] = MappingProxyType({})
"""Shared, so not writable."""


class StdioServer(NamedTuple):
    """An MCP server to start: ``env`` holds names and values, in the client's order."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


class RemoteServer(NamedTuple):
    """An MCP server to connect to: ``headers`` holds names and values, in the client's order."""

    kind: Literal["http", "sse"]
    name: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()


class OtherServer(NamedTuple):
    """An MCP server of a transport that v1 does not have; kept so that it can be refused."""

    kind: str
    name: str


McpServer: TypeAlias = StdioServer | RemoteServer | OtherServer


class NewSession(NamedTuple):
    """Open a session in ``cwd``, an absolute path that need not exist."""

    cwd: str
    mcp_servers: tuple[McpServer, ...] = ()
    meta: Mapping[str, Any] = NO_META


class LoadSession(NamedTuple):
    """Open a stored session and replay it."""

    session_id: str
    cwd: str
    mcp_servers: tuple[McpServer, ...] = ()
    meta: Mapping[str, Any] = NO_META


class ResumeSession(NamedTuple):
    """Take a session up again without a replay."""

    session_id: str
    cwd: str
    mcp_servers: tuple[McpServer, ...] = ()
    meta: Mapping[str, Any] = NO_META


class CancelSession(NamedTuple):
    """End the running turn of a session."""

    session_id: str


def parse_new_session(params: JsonObject) -> NewSession:
    """Read the params of ``session/new``.

    Raises:
        InvalidParams: ``cwd`` is no absolute path.

    """
    return NewSession(_absolute_cwd(params), _mcp_servers(params), meta_of(params))


def parse_load_session(params: JsonObject) -> LoadSession:
    """Read the params of ``session/load``.

    Raises:
        InvalidParams: ``sessionId`` is no text, or ``cwd`` no absolute path.

    """
    session_id = required_text(params, "sessionId")
    return LoadSession(session_id, _absolute_cwd(params), _mcp_servers(params), meta_of(params))


def parse_resume_session(params: JsonObject) -> ResumeSession:
    """Read the params of ``session/resume``.

    Raises:
        InvalidParams: ``sessionId`` is no text, or ``cwd`` no absolute path.

    """
    session_id = required_text(params, "sessionId")
    return ResumeSession(session_id, _absolute_cwd(params), _mcp_servers(params), meta_of(params))


def parse_cancel(params: JsonObject) -> CancelSession:
    """Read the params of ``session/cancel``.

    Raises:
        InvalidParams: ``sessionId`` is no text.

    """
    return CancelSession(required_text(params, "sessionId"))


def parse_cancel_request(params: JsonObject) -> RequestId:
    """Read which request ``$/cancel_request`` means; null is an id like any other.

    Raises:
        InvalidParams: ``requestId`` is absent or no id.

    """
    request_id = params.get("requestId")
    if "requestId" not in params or not is_request_id(request_id):
        message = "requestId must be text, a number of 64 bits or null"
        raise InvalidParams(message)
    return request_id


def new_session_result(session_id: str) -> JsonObject:
    """Answer ``session/new``; load and resume are answered with an empty object."""
    return {"sessionId": session_id}


def _absolute_cwd(params: JsonObject) -> str:
    cwd = required_text(params, "cwd")
    if not cwd.startswith("/"):
        message = "cwd must be an absolute path"
        raise InvalidParams(message)
    if "\0" in cwd:
        message = "cwd must not contain a NUL character"
        raise InvalidParams(message)
    return cwd


def _mcp_servers(params: JsonObject) -> tuple[McpServer, ...]:
    """Read the servers, passing over malformed ones as the schema prescribes."""
    servers = (_mcp_server(item) for item in as_list(params.get("mcpServers")) if is_object(item))
    return tuple(server for server in servers if server is not None)


def _mcp_server(item: JsonObject) -> McpServer | None:
    name, kind = optional_text(item, "name"), item.get("type", "stdio")
    if name is None or type(kind) is not str:
        return None
    if kind in ("http", "sse"):
        url, headers = optional_text(item, "url"), _pairs(item, "headers")
        if url is None or headers is None:
            return None
        return RemoteServer("http" if kind == "http" else "sse", name, url, headers)
    return _stdio_server(name, item) if kind == "stdio" else OtherServer(kind, name)


def _stdio_server(name: str, item: JsonObject) -> StdioServer | None:
    command, args, env = optional_text(item, "command"), item.get("args", []), _pairs(item, "env")
    if command is None or env is None or not is_list(args):
        return None
    if any(type(arg) is not str for arg in args):
        return None
    return StdioServer(name, command, tuple(args), env)


def _pairs(item: JsonObject, member: str) -> tuple[tuple[str, str], ...] | None:
    """Read a list of objects with a name and a value; None if it is malformed."""
    listed = item.get(member, [])
    if not is_list(listed):
        return None
    pairs: list[tuple[str, str]] = []
    for pair in map(as_object, listed):
        name, value = optional_text(pair, "name"), optional_text(pair, "value")
        if name is None or value is None:
            return None
        pairs.append((name, value))
    return tuple(pairs)
