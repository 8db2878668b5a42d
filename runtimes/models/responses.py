"""OpenAI's Responses API; nothing of a conversation is stored at the provider.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.models.base import Image, Kept, Text, ToolOutput, ToolUse
from runtimes.models.dialect import NO_EFFORT, NO_LIMIT, NO_TEMPERATURE, Optional, data_url, sides
from runtimes.models.responses_stream import FROM, ResponsesStream
from runtimes.models.stream_parser import bare_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.models.base import ModelRequest, Part
    from runtimes.models.config import ProviderConfig
    from runtimes.models.stream_parser import StreamParser

EFFORTS = {"off": "none", "low": "low", "medium": "medium", "high": "high", "max": "xhigh"}


class Responses:
    """See `runtimes.models.dialect.Dialect`."""

    base_url = "https://api.openai.com/v1"
    optional = (
        Optional("include", "include"),
        Optional("store", "store"),
        Optional("reasoning", "reasoning", NO_EFFORT),
        Optional("temperature", "temperature", NO_TEMPERATURE),
        Optional("max_output_tokens", "max_output_tokens", NO_LIMIT),
    )

    def path(self, request: ModelRequest) -> str:
        """Return the same for all models."""
        del request
        return "/responses"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the key as a bearer token."""
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def body(
        self, request: ModelRequest, config: ProviderConfig, omit: frozenset[str]
    ) -> dict[str, Any]:
        """Return the call."""
        del config
        items: list[dict[str, Any]] = []
        for role, parts in sides(request.messages):
            items += _user(parts) if role == "user" else _assistant(parts)
        body: dict[str, Any] = {"model": request.model, "input": items, "stream": True}
        body["store"] = False
        body["include"] = ["reasoning.encrypted_content"]
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                    "strict": False,
                }
                for tool in request.tools
            ]
        if request.max_output_tokens is not None:
            body["max_output_tokens"] = request.max_output_tokens
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.effort is not None:
            body["reasoning"] = {"effort": EFFORTS[request.effort], "summary": "auto"}
        return {key: value for key, value in body.items() if key not in omit} | {**request.options}

    def parser(self, request: ModelRequest) -> StreamParser:
        """Return what reads the answer."""
        return ResponsesStream(bare_tools(request))


def _user(parts: Sequence[Part]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {"type": "function_call_output", "call_id": part.call_id, "output": part.text}
        for part in parts
        if isinstance(part, ToolOutput)
    ]
    content: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text) and part.text:
            content.append({"type": "input_text", "text": part.text})
        elif isinstance(part, Image):
            content.append({"type": "input_image", "image_url": data_url(part)})
    if content:
        items.append({"type": "message", "role": "user", "content": content})
    return items


def _assistant(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return items in the order they came in: reasoning must stand before what it led to."""
    items: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case Text(text) if text:
                said = [{"type": "output_text", "text": text}]
                items.append({"type": "message", "role": "assistant", "content": said})
            case ToolUse(call_id, name, arguments):
                items.append(
                    {
                        "type": "function_call",
                        "call_id": call_id,
                        "name": name,
                        "arguments": arguments,
                    }
                )
            case Kept(payload) if payload.get("from") == FROM and "item" in payload:
                items.append(payload["item"])
            case _:
                pass
    return items
