"""`initialize`: the version, what the client can do, what we say about ourselves."""

from __future__ import annotations

from protocol.errors import InvalidParams
from protocol.members import JsonObject, as_object, meta_of, optional_text
from protocol.named_tuple import NamedTuple

PROTOCOL_VERSION = 1
"""The only version that we speak."""

_MAX_VERSION = 65535


class ClientCapabilities(NamedTuple):
    """What the client said it can do; what it did not say, or said wrongly, it can't.

    Build it with keywords.
    """

    read_text_file: bool = False
    write_text_file: bool = False
    terminal: bool = False
    boolean_options: bool = False
    notices: bool = False
    compaction: bool = False
    terminal_auth: bool = False
    form_elicitation: bool = False
    url_elicitation: bool = False
    meta: JsonObject | None = None


class InitializeParams(NamedTuple):
    """The client's first request.  Its name and version are for the log only."""

    protocol_version: int
    client: ClientCapabilities
    client_name: str | None = None
    client_version: str | None = None


class AgentInfo(NamedTuple):
    """Who we are: ``name`` for programs, ``title`` for people."""

    name: str
    version: str
    title: str | None = None


class AgentCapabilities(NamedTuple):
    """What we advertise; everything else is -32601 or refused.  Build it with keywords."""

    load_session: bool = False
    resume: bool = False
    close: bool = False
    list_sessions: bool = False
    delete: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    meta: JsonObject | None = None


def parse_initialize(params: JsonObject) -> InitializeParams:
    """Read the first request; all but the version may be absent or malformed.

    Raises:
        InvalidParams: ``protocolVersion`` is not an integer of 16 bits.

    """
    version = params.get("protocolVersion")
    if type(version) is not int or not 0 <= version <= _MAX_VERSION:
        message = f"protocolVersion must be an integer from 0 to {_MAX_VERSION}"
        raise InvalidParams(message)
    info = as_object(params.get("clientInfo"))
    return InitializeParams(
        version,
        _client_capabilities(as_object(params.get("clientCapabilities"))),
        optional_text(info, "name"),
        optional_text(info, "version"),
    )


def initialize_result(agent: AgentInfo, capabilities: AgentCapabilities) -> JsonObject:
    """Build the result, whatever version was asked for: the client may leave.

    We have no authentication methods.
    """
    info = {"name": agent.name, "version": agent.version}
    if agent.title is not None:
        info["title"] = agent.title
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": _agent_capabilities(capabilities),
        "authMethods": [],
        "agentInfo": info,
    }


def _client_capabilities(said: JsonObject) -> ClientCapabilities:
    files = as_object(said.get("fs"))
    session = as_object(said.get("session"))
    elicitation = as_object(said.get("elicitation"))
    return ClientCapabilities(
        read_text_file=files.get("readTextFile") is True,
        write_text_file=files.get("writeTextFile") is True,
        terminal=said.get("terminal") is True,
        boolean_options=_marked(as_object(session.get("configOptions")), "boolean"),
        notices=_marked(session, "notices"),
        compaction=_marked(session, "compaction"),
        terminal_auth=as_object(said.get("auth")).get("terminal") is True,
        form_elicitation=_marked(elicitation, "form"),
        url_elicitation=_marked(elicitation, "url"),
        meta=meta_of(said) or None,
    )


def _marked(source: JsonObject, name: str) -> bool:
    """Read a marker: an object, even an empty one, is yes; true is malformed and so is no."""
    return type(source.get(name)) is dict


def _agent_capabilities(ours: AgentCapabilities) -> JsonObject:
    markers = {
        "list": ours.list_sessions,
        "delete": ours.delete,
        "resume": ours.resume,
        "close": ours.close,
    }
    said: JsonObject = {
        "loadSession": ours.load_session,
        "promptCapabilities": {
            "image": ours.image,
            "audio": ours.audio,
            "embeddedContext": ours.embedded_context,
        },
        "mcpCapabilities": {"http": ours.mcp_http, "sse": ours.mcp_sse},
        # A marker is an object or absent, never true.
        "sessionCapabilities": {name: {} for name, present in markers.items() if present},
    }
    if ours.meta is not None:
        said["_meta"] = ours.meta
    return said
