"""Anthropic's Messages API.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.models.anthropic_stream import FROM, AnthropicStream
from runtimes.models.base import Image, Kept, Text, ToolOutput, ToolUse
from runtimes.models.dialect import NO_EFFORT, NO_TEMPERATURE, Optional, sides
from runtimes.models.json_text import read_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.models.base import Effort, ModelRequest, Part
    from runtimes.models.config import ProviderConfig
    from runtimes.models.stream_parser import StreamParser

VERSION = "2023-06-01"
MAX_TOKENS = 8192
"""Where nobody says how much a model may answer: the API demands a limit."""
BUDGETS: dict[Effort, int] = {"low": 2048, "medium": 8192, "high": 16384, "max": 31999}
"""Tokens to think with; at least 1024 and fewer than the whole answer may have."""
LEAST_BUDGET = 1024
EFFORTS: dict[Effort, str] = {"low": "low", "medium": "medium", "high": "high", "max": "max"}
BUDGET = "budget_tokens"
"""Newer models refuse it: they adapt how much they think to an effort."""


class Anthropic:
    """See `runtimes.models.dialect.Dialect`."""

    base_url = "https://api.anthropic.com/v1"
    optional = (
        Optional(BUDGET, "adaptive"),
        Optional("output_config", "output_config"),
        Optional("thinking", "thinking", NO_EFFORT),
        Optional("cache_control", "cache_control"),
        Optional("temperature", "temperature", NO_TEMPERATURE),
    )

    def path(self, request: ModelRequest) -> str:
        """Return the same for all models."""
        del request
        return "/messages"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the key and the version of the API."""
        return {"anthropic-version": VERSION} | ({} if key is None else {"x-api-key": key})

    def body(
        self, request: ModelRequest, config: ProviderConfig, omit: frozenset[str]
    ) -> dict[str, Any]:
        """Return the call, with marks that let the provider cache what is sent every time."""
        limit = request.max_output_tokens or config.facts(request.model).max_output or MAX_TOKENS
        messages = [
            {"role": role, "content": content}
            for role, parts in sides(request.messages)
            if (content := _blocks(parts))
        ]
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": limit,
            "stream": True,
            "messages": messages,
        }
        if request.system:
            body["system"] = [{"type": "text", "text": request.system}]
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in request.tools
            ]
        if "cache_control" not in omit:
            _mark(body)
        thinking = _thinking(request.effort, limit, omit)
        if request.temperature is not None and not thinking:  # the API takes one or the other
            body["temperature"] = request.temperature
        body |= thinking
        return {key: value for key, value in body.items() if key not in omit} | {**request.options}

    def parser(self, request: ModelRequest) -> StreamParser:
        """Return what reads the answer."""
        del request
        return AnthropicStream()


def _thinking(effort: Effort | None, limit: int, omit: frozenset[str]) -> dict[str, Any]:
    if effort is None or effort == "off" or "thinking" in omit:
        return {}
    if BUDGET in omit:
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": EFFORTS[effort]}}
    budget = min(BUDGETS[effort], limit - 1)
    if budget < LEAST_BUDGET:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _mark(body: dict[str, Any]) -> None:
    """Mark the ends of what stays the same from call to call: the system text, the messages."""
    ends: list[dict[str, Any]] = [*body.get("system", ())[-1:], *body.get("tools", ())[-1:]]
    for message in body["messages"][-1:]:
        ends += message["content"][-1:]
    for end in ends:
        if end.get("type") not in {"thinking", "redacted_thinking"}:
            end["cache_control"] = {"type": "ephemeral"}


def _blocks(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return outputs of tools first, as the API demands, the rest in order."""
    first = [_output(part) for part in parts if isinstance(part, ToolOutput)]
    return first + [block for part in parts if (block := _block(part)) is not None]


def _output(part: ToolOutput) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": part.call_id}
    if part.text:
        block["content"] = part.text
    if part.failed:
        block["is_error"] = True
    return block


def _block(part: Part) -> dict[str, Any] | None:
    match part:
        case Text(text) if text.strip():  # a text of blanks is refused
            return {"type": "text", "text": text}
        case Image(mime_type, data):
            source = {"type": "base64", "media_type": mime_type, "data": data}
            return {"type": "image", "source": source}
        case ToolUse(call_id, name, arguments):
            given = read_object(arguments) or {}
            return {"type": "tool_use", "id": call_id, "name": name, "input": given}
        case Kept(payload) if payload.get("from") == FROM and "block" in payload:
            return dict(payload["block"])
        case _:
            return None
