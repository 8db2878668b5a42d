"""The four wire formats, as a stranger reads them: what goes back in a conversation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Format(NamedTuple):
    """One wire format."""

    base: str
    """What follows the address of a server."""
    header: str
    """The one that carries the key."""
    conversation: str
    """Where a request has it."""


FORMATS: Mapping[str, Format] = {
    "openai-compatible": Format("/v1", "authorization", "messages"),
    "openai": Format("/v1", "authorization", "input"),
    "anthropic": Format("/v1", "x-api-key", "messages"),
    "gemini": Format("/v1beta", "x-goog-api-key", "contents"),
}


def conversation_of(kind: str, body: Mapping[str, Any]) -> list[Any]:
    """Return what a request says, without the marks of what Anthropic shall cache: they move."""
    said: list[Any] = _without_marks(body[FORMATS[kind].conversation])
    return said


def calls_and_outputs(
    conversation: list[Any],
) -> tuple[dict[str, tuple[str, Any]], dict[str, str]]:
    """Return the calls, as (name, arguments), and the outputs of a conversation, by their ids."""
    calls: dict[str, tuple[str, Any]] = {}
    outputs: dict[str, str] = {}
    for part in _parts(conversation):
        match part:
            case {"id": call_id, "function": {"name": name, "arguments": text}}:
                calls[call_id] = (name, json.loads(text))
            case {"role": "tool", "tool_call_id": call_id, "content": text}:
                outputs[call_id] = text
            case {"type": "function_call", "call_id": call_id, "name": name, "arguments": text}:
                calls[call_id] = (name, json.loads(text))
            case {"type": "function_call_output", "call_id": call_id, "output": text}:
                outputs[call_id] = text
            case {"type": "tool_use", "id": call_id, "name": name, "input": values}:
                calls[call_id] = (name, values)
            case {"type": "tool_result", "tool_use_id": call_id, "content": text}:
                outputs[call_id] = text
            case {"functionCall": {"id": call_id, "name": name, "args": values}}:
                calls[call_id] = (name, values)
            case {"functionResponse": {"id": call_id, "response": {"output": text}}}:
                outputs[call_id] = text
            case _:
                pass
    return calls, outputs


def signed_in_stream(events: list[dict[str, Any]]) -> list[Any]:
    """Return what an answer brought that has to come back unchanged."""
    found: list[Any] = []
    thought = ""
    for event in events:
        match event:
            case {"type": "response.output_item.done", "item": {"type": "reasoning"} as item}:
                found.append((item["id"], item["encrypted_content"]))
            case {"delta": {"type": "signature_delta", "signature": text}}:
                found.append(text)
            case {"choices": [{"delta": {"reasoning_content": str(text)}}, *_]}:
                thought += text
            case _:
                pass
    return [thought] if thought else found


def signed_in_conversation(conversation: list[Any]) -> list[Any]:
    """Return what came back of it."""
    found: list[Any] = []
    for part in _parts(conversation):
        match part:
            case {"type": "reasoning", "id": name, "encrypted_content": text}:
                found.append((name, text))
            case {"type": "thinking", "signature": text} | {"reasoning_content": text}:
                found.append(text)
            case _:
                pass
    return found


def _parts(conversation: list[Any]) -> Iterator[dict[str, Any]]:
    """Give each message, and then what it has of parts or calls."""
    for message in conversation:
        yield message
        for name in ("content", "parts", "tool_calls"):
            inner = message.get(name)
            if isinstance(inner, list):
                yield from inner


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_marks(each) for name, each in value.items() if name != "cache_control"
        }
    return [_without_marks(each) for each in value] if isinstance(value, list) else value
