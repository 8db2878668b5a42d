"""The chat completions API, which everybody imitates.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.models.base import Image, Kept, Reasoning, Text, ToolOutput, ToolUse
from runtimes.models.chat_stream import FROM, ChatStream
from runtimes.models.dialect import NO_EFFORT, NO_LIMIT, NO_TEMPERATURE, Optional, data_url
from runtimes.models.repeated import Repeated
from runtimes.models.stream_parser import bare_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.models.base import ModelRequest, Part, Role
    from runtimes.models.config import CallIds, ProviderConfig, ReasoningBack
    from runtimes.models.stream_parser import StreamParser

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
EFFORTS = {"off": "none", "low": "low", "medium": "medium", "high": "high", "max": "xhigh"}


class ChatCompletions:
    """See `runtimes.models.dialect.Dialect`."""

    base_url = ""
    optional = (
        Optional("stream_options", "stream_options"),
        # In this order: old servers know only the first, OpenAI's newest models only the second.
        Optional("max_tokens", "max_tokens"),
        Optional("max_completion_tokens", "max_completion_tokens", NO_LIMIT),
        Optional("temperature", "temperature", NO_TEMPERATURE),
        Optional("reasoning_effort", "reasoning_effort", NO_EFFORT),
    )

    def __init__(self) -> None:
        """Have sent nothing."""
        self._repeated = Repeated()

    def path(self, request: ModelRequest) -> str:
        """Return the same for all models."""
        del request
        return "/chat/completions"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the key as a bearer token."""
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def body(
        self, request: ModelRequest, config: ProviderConfig, omit: frozenset[str]
    ) -> dict[str, Any]:
        """Return the call."""
        messages: list[dict[str, Any]] = []
        if request.system:
            messages.append({"role": "system", "content": request.system})

        def convert(role: Role, parts: Sequence[Part]) -> list[dict[str, Any]]:
            if role == "user":
                return _user(parts, config.call_ids)
            return _assistant(parts, config.call_ids, config.reasoning_back)

        messages += self._repeated.convert(
            request.messages, convert, (config.call_ids, config.reasoning_back)
        )
        body: dict[str, Any] = {"model": request.model, "messages": messages, "stream": True}
        body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.schema,
                    },
                }
                for tool in request.tools
            ]
        if request.max_output_tokens is not None:
            name = "max_completion_tokens" if "max_tokens" in omit else "max_tokens"
            body[name] = request.max_output_tokens
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.effort is not None:
            body["reasoning_effort"] = EFFORTS[request.effort]
        return {key: value for key, value in body.items() if key not in omit} | {**request.options}

    def parser(self, request: ModelRequest) -> StreamParser:
        """Return what reads the answer."""
        return ChatStream(bare_tools(request))


def _user(parts: Sequence[Part], ids: CallIds) -> list[dict[str, Any]]:
    """Return outputs of tools first: nothing may stand between them and their calls."""
    messages: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": call_id(part.call_id, ids), "content": part.text}
        for part in parts
        if isinstance(part, ToolOutput)
    ]
    texts = [part.text for part in parts if isinstance(part, Text) and part.text]
    if not any(isinstance(part, Image) for part in parts):
        if texts:
            messages.append({"role": "user", "content": "\n\n".join(texts)})
        return messages
    content: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text) and part.text:
            content.append({"type": "text", "text": part.text})
        elif isinstance(part, Image):
            content.append({"type": "image_url", "image_url": {"url": data_url(part)}})
    messages.append({"role": "user", "content": content})
    return messages


def _assistant(parts: Sequence[Part], ids: CallIds, back: ReasoningBack) -> list[dict[str, Any]]:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    calls = [
        {
            "id": call_id(part.call_id, ids),
            "type": "function",
            "function": {"name": part.name, "arguments": part.arguments},
        }
        for part in parts
        if isinstance(part, ToolUse)
    ]
    if not text and not calls:
        return []
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    if back == "always" or (calls and back == "with-calls"):
        message |= _thoughts(parts)
    return [message]


def _thoughts(parts: Sequence[Part]) -> dict[str, Any]:
    """Give back what was received, under the name that it was received by."""
    thought = "".join(part.text for part in parts if isinstance(part, Reasoning))
    for part in parts:
        if not isinstance(part, Kept) or part.payload.get("from") != FROM:
            continue
        if "reasoning_details" in part.payload:
            return {"reasoning_details": part.payload["reasoning_details"]}
        if thought:
            return {str(part.payload["reasoning_field"]): thought}
    return {}


def call_id(sent: str, ids: CallIds) -> str:
    """Return an id of a call as the server wants it; the same one for the same call."""
    wanted = 9
    if ids == "as-sent" or (len(sent) == wanted and sent.isascii() and sent.isalnum()):
        return sent
    import hashlib

    number = int.from_bytes(hashlib.sha256(sent.encode("utf-8", "replace")).digest()[:8], "big")
    digits: list[str] = []
    while len(digits) < wanted:
        number, digit = divmod(number, len(LETTERS))
        digits.append(LETTERS[digit])
    return "".join(digits)
