"""Google's Gemini API.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocol.named_tuple import NamedTuple
from runtimes.models.base import Image, Kept, Text, ToolOutput, ToolUse
from runtimes.models.dialect import NO_EFFORT, NO_TEMPERATURE, Optional, sides
from runtimes.models.gemini_stream import FROM, GeminiStream
from runtimes.models.json_text import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtimes.models.base import Effort, Message, ModelRequest, Part
    from runtimes.models.config import ProviderConfig
    from runtimes.models.stream_parser import StreamParser

BUDGETS: dict[Effort, int] = {"off": 0, "low": 1024, "medium": 8192, "high": 24576, "max": -1}
"""Tokens to think with; -1: as many as the model wants."""
LEVELS: dict[Effort, str] = {
    "off": "low",
    "low": "low",
    "medium": "high",
    "high": "high",
    "max": "high",
}
"""The same for models from Gemini 3 on, which know two levels and can't do without."""
OLD = ("gemini-1", "gemini-2")


class Gemini:
    """See `runtimes.models.dialect.Dialect`."""

    base_url = "https://generativelanguage.googleapis.com/v1beta"
    optional = (
        Optional("thinking", "thinking", NO_EFFORT),
        Optional("temperature", "temperature", NO_TEMPERATURE),
    )

    def path(self, request: ModelRequest) -> str:
        """Return the model's own path."""
        from urllib.parse import quote

        name = request.model.removeprefix("models/")
        return f"/models/{quote(name, safe='')}:streamGenerateContent?alt=sse"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the key; in a header, since addresses end up in logs."""
        return {} if key is None else {"x-goog-api-key": key}

    def body(
        self, request: ModelRequest, config: ProviderConfig, omit: frozenset[str]
    ) -> dict[str, Any]:
        """Return the call."""
        del config
        known = _calls(request.messages)
        contents = [
            {"role": "user" if role == "user" else "model", "parts": content}
            for role, parts in sides(request.messages)
            if (content := _parts(parts, known))
        ]
        body: dict[str, Any] = {"contents": contents}
        if request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools:
            declared = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": tool.schema,
                }
                for tool in request.tools
            ]
            body["tools"] = [{"functionDeclarations": declared}]
        generation = _generation(request, omit)
        if generation:
            body["generationConfig"] = generation
        return body | {**request.options}

    def parser(self, request: ModelRequest) -> StreamParser:
        """Return what reads the answer."""
        del request
        return GeminiStream()


def _generation(request: ModelRequest, omit: frozenset[str]) -> dict[str, Any]:
    generation: dict[str, Any] = {}
    if request.max_output_tokens is not None:
        generation["maxOutputTokens"] = request.max_output_tokens
    if request.temperature is not None and "temperature" not in omit:
        generation["temperature"] = request.temperature
    if request.effort is not None and "thinking" not in omit:
        thinking: dict[str, Any] = {"includeThoughts": request.effort != "off"}
        if request.model.removeprefix("models/").startswith(OLD):
            thinking["thinkingBudget"] = BUDGETS[request.effort]
        else:
            thinking["thinkingLevel"] = LEVELS[request.effort]
        generation["thinkingConfig"] = thinking
    return generation


class _Call(NamedTuple):
    """A call of the conversation: its name, and what Google sent with it and wants back."""

    name: str
    note: Mapping[str, Any]


def _calls(messages: Sequence[Message]) -> dict[str, _Call]:
    """Return all calls by the ids they have here; what is kept of one stands before it.

    Not by the id in what was kept: a server that numbers anew in each answer has its ids changed.
    """
    known: dict[str, _Call] = {}
    note: Mapping[str, Any] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, Kept) and part.payload.get("from") == FROM:
                note = part.payload if "call_id" in part.payload else note
            elif isinstance(part, ToolUse):
                known[part.call_id] = _Call(part.name, note)
                note = {}
    return known


def _parts(parts: Sequence[Part], known: Mapping[str, _Call]) -> list[dict[str, Any]]:
    sent = (_part(part, known) for part in parts)
    return [each for each in sent if each is not None]


def _part(part: Part, known: Mapping[str, _Call]) -> dict[str, Any] | None:
    match part:
        case Text(text) if text:
            return {"text": text}
        case Image(mime_type, data):
            return {"inlineData": {"mimeType": mime_type, "data": data}}
        case ToolUse(call_id, name, arguments):
            call = {"name": name, "args": read_object(arguments) or {}}
            note = known[call_id].note
            signed = {key: note[key] for key in ("thoughtSignature",) if key in note}
            return {"functionCall": _with_id(call, note), **signed}
        case ToolOutput(call_id, text, failed):
            name, note = known.get(call_id, _Call(call_id, {}))
            answer = {"error" if failed else "output": text}
            return {"functionResponse": _with_id({"name": name, "response": answer}, note)}
        case Kept(payload) if payload.get("from") == FROM and "call_id" not in payload:
            return {"text": "", "thoughtSignature": payload["thoughtSignature"]}
        case _:
            return None


def _with_id(value: dict[str, Any], note: Mapping[str, Any]) -> dict[str, Any]:
    """Add the id that Google gave the call; older models give none."""
    return {"id": note["id"], **value} if "id" in note else value
