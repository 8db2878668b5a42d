"""Prompts on the wire: content blocks in, a stop reason out.  Pure."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from protocol.errors import InvalidParams, shown
from protocol.members import (
    JsonObject,
    is_list,
    is_object,
    meta_of,
    optional_int,
    optional_text,
    required_text,
)
from protocol.values import frozen

if TYPE_CHECKING:
    from protocol.handshake import AgentCapabilities


@frozen
class Text:
    """What the user wrote."""

    text: str


@frozen
class ResourceLink:
    """A file or page that the user points at; ``size`` in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


@frozen
class Image:
    """A picture; ``data`` is base64 and unchecked."""

    data: str
    mime_type: str
    uri: str | None = None


@frozen
class Audio:
    """A sound; ``data`` is base64 and unchecked."""

    data: str
    mime_type: str


@frozen
class EmbeddedResource:
    """A file's content: ``text``, or ``blob`` in base64 and unchecked; exactly one is set."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


ContentBlock: TypeAlias = Text | ResourceLink | Image | Audio | EmbeddedResource


@frozen
class Prompt:
    """One turn's input: at least one block."""

    session_id: str
    blocks: tuple[ContentBlock, ...]
    meta: JsonObject = field(default_factory=dict[str, Any])


class StopReason:
    """Why a turn ended.  The first five are v1's closed set."""

    END_TURN: Final = "end_turn"
    MAX_TOKENS: Final = "max_tokens"
    MAX_TURN_REQUESTS: Final = "max_turn_requests"
    REFUSAL: Final = "refusal"
    CANCELLED: Final = "cancelled"
    WAITING: Final = "waiting"
    """chant's own, only under ``--durable-requests``: strict clients fail on it."""


def parse_prompt(params: JsonObject, capabilities: AgentCapabilities) -> Prompt:
    """Read the params of ``session/prompt``; only blocks that we advertised may stand in it.

    Raises:
        InvalidParams: Names the member, or the type of block, that can't be taken.

    """
    session_id, blocks = required_text(params, "sessionId"), params.get("prompt")
    if not is_list(blocks) or not blocks:
        message = "prompt must be an array of at least one content block"
        raise InvalidParams(message)
    read = tuple(_block(block, f"prompt[{i}]", capabilities) for i, block in enumerate(blocks))
    return Prompt(session_id, read, meta_of(params))


def prompt_result(stop_reason: str, meta: JsonObject | None = None) -> JsonObject:
    """Answer ``session/prompt``; an empty ``meta`` is left out."""
    return {"stopReason": stop_reason, "_meta": meta} if meta else {"stopReason": stop_reason}


def _block(block: object, where: str, capabilities: AgentCapabilities) -> ContentBlock:
    if not is_object(block):
        message = f"{where} must be an object"
        raise InvalidParams(message)
    kind, at = required_text(block, "type", f"{where}."), f"{where}."
    match kind:
        case "text":
            return Text(required_text(block, "text", at))
        case "resource_link":
            return _resource_link(block, at)
        case "image" if capabilities.image:
            data, mime_type = required_text(block, "data", at), required_text(block, "mimeType", at)
            return Image(data, mime_type, optional_text(block, "uri"))
        case "audio" if capabilities.audio:
            return Audio(required_text(block, "data", at), required_text(block, "mimeType", at))
        case "resource" if capabilities.embedded_context:
            return _embedded(block.get("resource"), f"{at}resource")
        case _:
            message = f"{where}: content of type {shown(kind)} is not supported"
            raise InvalidParams(message)


def _resource_link(block: JsonObject, at: str) -> ResourceLink:
    return ResourceLink(
        required_text(block, "uri", at),
        required_text(block, "name", at),
        optional_text(block, "title"),
        optional_text(block, "description"),
        optional_text(block, "mimeType"),
        optional_int(block, "size"),
    )


def _embedded(resource: object, where: str) -> EmbeddedResource:
    if not is_object(resource):
        message = f"{where} must be an object"
        raise InvalidParams(message)
    uri = required_text(resource, "uri", f"{where}.")
    mime_type = optional_text(resource, "mimeType")
    text = optional_text(resource, "text")
    if text is not None:
        return EmbeddedResource(uri, text=text, mime_type=mime_type)
    blob = optional_text(resource, "blob")
    if blob is None:
        message = f"{where} must have text or blob"
        raise InvalidParams(message)
    return EmbeddedResource(uri, blob=blob, mime_type=mime_type)


def prompt_session(params: JsonObject) -> str:
    """Read only which session a prompt is for: an unknown one is told before any other fault.

    Raises:
        InvalidParams: ``sessionId`` is no text.

    """
    return required_text(params, "sessionId")
