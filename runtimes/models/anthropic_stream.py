"""Reads an answer of Anthropic's Messages API, also as proxies garble it.  Pure."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import orjson

from protocol.values import slotted
from runtimes.models.base import (
    CallFailed,
    FinishReason,
    KeepForLater,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
)
from runtimes.models.failures import stream_failure
from runtimes.models.json_text import parse, table, text_of
from runtimes.models.stream_parser import (
    CUT,
    NO_JSON,
    Called,
    finished,
    new_call_id,
    one_by_one,
    without_arguments,
)
from runtimes.models.usage import anthropic_usage, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runtimes.models.base import ModelEvent

FROM = "anthropic"
FINISHES: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
    "pause_turn": "pause",
}


@slotted
class _Block:
    """A content block that is arriving."""

    kind: str
    start: dict[str, Any]
    pieces: list[str] = field(default_factory=list[str])
    signature: str = ""


class AnthropicStream:
    """See `runtimes.models.stream_parser.StreamParser`."""

    def __init__(self, new_id: Callable[[], str] = new_call_id) -> None:
        """Have read nothing."""
        self.over = False
        self._new_id = new_id
        self._blocks: dict[Any, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._reason = ""
        self._calls = Called()
        self._stopped = False
        self._failure: CallFailed | None = None

    def take(self, data: bytes) -> Sequence[ModelEvent]:
        """Read one event."""
        try:
            event = parse(data)
        except ValueError:
            # Some proxies add the end sign of the other API.
            failure = CallFailed(NO_JSON, retry=True)
            return () if data.startswith(b"[DONE]") else self._fail(failure)
        try:
            kind = event.get("type")
            if kind == "content_block_delta":
                delta = event["delta"]
                if delta["type"] == "text_delta":
                    text = delta["text"]
                    return (TextDelta(text),) if text and type(text) is str else ()
                return self._delta(event.get("index"), delta)
            return self._other(kind, event)
        except (AttributeError, KeyError, TypeError):
            return self._fail(CallFailed("it sent an event of an unknown shape", retry=True))

    def _other(self, kind: Any, event: dict[str, Any]) -> Sequence[ModelEvent]:
        if kind == "message_start":  # proxies send it twice, or in the middle
            self._usage = merged(self._usage, table(event["message"].get("usage")))
        elif kind == "content_block_start":
            return self._start(event.get("index"), table(event["content_block"]))
        elif kind == "content_block_stop":
            return self._stop(self._blocks.pop(event.get("index"), None))
        elif kind == "message_delta":
            self._reason = text_of(table(event.get("delta")).get("stop_reason")) or self._reason
            self._usage = merged(self._usage, table(event.get("usage")))
        elif kind == "message_stop":
            self.over = self._stopped = True
            return self._left_open()
        elif kind == "error" or (kind is None and event.get("error")):
            return self._fail(stream_failure(event))
        return ()

    def take_all(self, datas: Sequence[bytes]) -> list[ModelEvent]:
        """Read what one read brought."""
        return one_by_one(self, datas)

    def end(self, cause: str = CUT) -> Sequence[ModelEvent]:
        """Return usage and the last event."""
        usage = anthropic_usage(self._usage)
        last = self._failure or self._last(cause)
        return (last,) if usage is None else (usage, last)

    def _start(self, index: Any, block: dict[str, Any]) -> Sequence[ModelEvent]:
        self._blocks[index] = _Block(text_of(block.get("type")), block)
        text = block.get("text")
        return (TextDelta(text),) if text and isinstance(text, str) else ()

    def _delta(self, index: Any, delta: dict[str, Any]) -> Sequence[ModelEvent]:
        block = self._blocks.get(index)
        match delta["type"]:
            case "thinking_delta":
                thought = text_of(delta.get("thinking"))
                if block is not None:
                    block.pieces.append(thought)
                return (ReasoningDelta(thought),) if thought else ()
            case "signature_delta" if block is not None:
                block.signature += text_of(delta.get("signature"))
            case "input_json_delta" if block is not None:
                block.pieces.append(text_of(delta.get("partial_json")))
            case _:
                pass  # citations, and what is still to be invented
        return ()

    def _stop(self, block: _Block | None) -> Sequence[ModelEvent]:
        match block and block.kind:
            case "thinking" if block is not None:
                kept = {
                    "type": "thinking",
                    "thinking": text_of(block.start.get("thinking")) + "".join(block.pieces),
                    "signature": block.signature or text_of(block.start.get("signature")),
                }
                return (KeepForLater({"from": FROM, "block": kept}),)
            case "redacted_thinking" if block is not None:
                return (KeepForLater({"from": FROM, "block": block.start}),)
            case "tool_use" if block is not None:
                return self._called(block)
            case _:
                return ()

    def _left_open(self) -> list[ModelEvent]:
        """Close what a proxy left open, unless it was cut off: a call must not be lost."""
        if FINISHES.get(self._reason) == "length":
            return []
        events: list[ModelEvent] = []
        for block in self._blocks.values():
            # The first piece of all arguments is an empty one.
            if block.kind == "tool_use" and not (any(block.pieces) or block.start.get("input")):
                self._fail(without_arguments(text_of(block.start.get("name"))))
            else:
                events += self._stop(block)
            if self._failure is not None:
                break
        return events

    def _called(self, block: _Block) -> Sequence[ModelEvent]:
        name = text_of(block.start.get("name"))
        if not name:
            return self._fail(without_arguments(name))
        # The block said at its start what its input is as long as nothing follows, and was closed.
        started = orjson.dumps(table(block.start.get("input"))).decode()
        arguments = "".join(block.pieces) or started
        given = text_of(block.start.get("id"))
        if self._calls.again(given, name, arguments):
            return ()
        return (ToolCalled(given or self._new_id(), name, arguments),)

    def _last(self, cause: str) -> ModelEvent:
        if not self._stopped or not self._reason:
            return CallFailed(cause, retry=True)
        reason = FINISHES.get(self._reason)
        return finished(reason, self._reason, calls=self._calls.any)

    def _fail(self, failure: CallFailed) -> tuple[()]:
        self._failure = failure
        self.over = True
        return ()
