"""What an instant model says in three wire formats: texts and calls as server-sent events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

CALL_ID = "call_bench"
"""Of every tool call."""
USAGE = 10

Event: TypeAlias = "tuple[str, dict[str, Any]]"
"""Name (empty: none) and data."""


class Format:
    """One wire format: what comes before the text, a piece of it, a call, and what comes last."""

    def __init__(
        self,
        before: Sequence[Event],
        piece: Callable[[str], Event],
        after: Callable[[str], list[Event]],
        call: Callable[[str, str], list[Event]],
        last: bytes = b"",
    ) -> None:
        self.before, self.piece, self.after, self.call, self.last = before, piece, after, call, last

    def whole(self, text: str) -> bytes:
        """Return an answer of one piece."""
        return encoded([*self.before, self.piece(text), *self.after(text)]) + self.last

    def calling(self, name: str, arguments: str) -> bytes:
        """Return an answer that is a call."""
        return encoded([*self.before[:1], *self.call(name, arguments)]) + self.last


def encoded(events: Iterable[Event]) -> bytes:
    """Write events as they go over the wire."""
    return b"".join(map(_one, events))


def _one(event: Event) -> bytes:
    name, data = event
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


# --- chat completions


def _chat(delta: dict[str, Any], finish: str | None = None) -> Event:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    common = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    return "", {**common, "choices": [choice]}


def _chat_usage() -> Event:
    usage = {"prompt_tokens": USAGE, "completion_tokens": USAGE, "total_tokens": 2 * USAGE}
    name, data = _chat({})
    return name, {**data, "choices": [], "usage": usage}


def _chat_call(name: str, arguments: str) -> list[Event]:
    function = {"name": name, "arguments": arguments}
    call = {"index": 0, "id": CALL_ID, "type": "function", "function": function}
    return [_chat({"tool_calls": [call]}), _chat({}, "tool_calls"), _chat_usage()]


CHAT = Format(
    (_chat({"role": "assistant", "content": ""}),),
    lambda text: _chat({"content": text}),
    lambda _text: [_chat({}, "stop"), _chat_usage()],
    _chat_call,
    b"data: [DONE]\n\n",
)

# --- responses


def _response(status: str, output: list[Any]) -> dict[str, Any]:
    usage = {"input_tokens": USAGE, "output_tokens": USAGE, "total_tokens": 2 * USAGE}
    details = {"input_tokens_details": {"cached_tokens": 0}}
    return {
        "id": "resp-1",
        "object": "response",
        "created_at": 1,
        "model": "bench",
        "status": status,
        "output": output,
        "usage": {**usage, **details, "output_tokens_details": {"reasoning_tokens": 0}},
    }


def _named(name: str, **members: Any) -> Event:
    return name, {"type": name, **members}


def _message(text: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "m1", "type": "message", "role": "assistant", "content": content}


def _said(text: str) -> list[Event]:
    return [
        _named("response.output_text.done", item_id="m1", output_index=0, text=text),
        _named("response.output_item.done", output_index=0, item=_message(text)),
        _named("response.completed", response=_response("completed", [_message(text)])),
    ]


def _function(name: str, arguments: str) -> list[Event]:
    item = {"id": "f1", "type": "function_call", "call_id": CALL_ID, "name": name}
    item["arguments"] = arguments
    return [
        _named("response.output_item.done", output_index=0, item=item),
        _named("response.completed", response=_response("completed", [item])),
    ]


RESPONSES = Format(
    (
        _named("response.created", response=_response("in_progress", [])),
        _named("response.output_item.added", output_index=0, item={**_message(""), "content": []}),
    ),
    lambda text: _named(
        "response.output_text.delta", item_id="m1", output_index=0, content_index=0, delta=text
    ),
    _said,
    _function,
)

# --- messages


def _stopped(reason: str) -> list[Event]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        _named("content_block_stop", index=0),
        _named("message_delta", delta=delta, usage={"output_tokens": USAGE}),
        _named("message_stop"),
    ]


def _use(name: str, arguments: str) -> list[Event]:
    block: dict[str, Any] = {"type": "tool_use", "id": CALL_ID, "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": arguments}
    return [
        _named("content_block_start", index=0, content_block=block),
        _named("content_block_delta", index=0, delta=delta),
        *_stopped("tool_use"),
    ]


_STARTED: dict[str, Any] = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "content": [],
    "model": "bench",
}
_COUNTED = {"stop_reason": None, "usage": {"input_tokens": USAGE, "output_tokens": 1}}
MESSAGES = Format(
    (
        _named("message_start", message={**_STARTED, **_COUNTED}),
        _named("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    ),
    lambda text: _named("content_block_delta", index=0, delta={"type": "text_delta", "text": text}),
    lambda _text: _stopped("end_turn"),
    _use,
)
FORMATS = (("/chat/completions", CHAT), ("/responses", RESPONSES), ("/messages", MESSAGES))
"""By the end of the path."""
