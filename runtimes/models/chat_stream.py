"""Reads an answer of the chat completions API, as all its imitators send it.  Pure."""

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
from runtimes.models.joining import text_deltas
from runtimes.models.json_text import parse, table, tables, text_of
from runtimes.models.same_chunk import SameChunk
from runtimes.models.stream_parser import (
    CUT,
    NO_JSON,
    arguments_of,
    finished,
    new_call_id,
    without_arguments,
)
from runtimes.models.think_tags import ThinkTags
from runtimes.models.usage import chat_usage, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from runtimes.models.base import ModelEvent

FROM = "openai-compatible"
REASONING = ("reasoning_content", "reasoning")
"""Where vendors put what the model thinks."""
FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tools",
    "tool_call": "tools",
    "function_call": "tools",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refused",
    "safety": "refused",
    "sensitive": "refused",
}
FAULTS = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""Finish reasons that say that the provider failed."""


@slotted
class _Call:
    """A tool call that is arriving."""

    index: Any
    call_id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])


class ChatStream:
    """See `runtimes.models.stream_parser.StreamParser`."""

    def __init__(
        self, bare: frozenset[str] = frozenset(), new_id: Callable[[], str] = new_call_id
    ) -> None:
        """Have read nothing; ``bare`` are tools without arguments."""
        self.over = False
        self._bare = bare
        self._new_id = new_id
        self._think: ThinkTags | None = ThinkTags()
        self._calls: list[_Call] = []
        self._usage: dict[str, Any] = {}
        self._finish = ""
        self._refused = False
        self._failure: CallFailed | None = None
        self._reasoning_field = ""
        self._details: list[dict[str, Any]] = []
        self._same = SameChunk()

    def take(self, data: bytes) -> Sequence[ModelEvent]:
        """Read one chunk."""
        if data.startswith(b"[DONE]"):
            self.over = True
            return ()
        events = self._read(data)
        if self._think is None and len(events) == 1 and type(events[0]) is TextDelta:
            self._same.learn(data, events[0].text, _only_text)
        return events

    def take_all(self, datas: Sequence[bytes]) -> list[ModelEvent]:
        """Read what one read brought: nearly all of it is alike but for the text."""
        events: list[ModelEvent] = []
        at = 0
        while at < len(datas) and not self.over:
            if texts := self._same.texts(datas, at):
                events += text_deltas("".join(texts))
                at += len(texts)
            else:
                events += self.take(datas[at])
                at += 1
        return events

    def _read(self, data: bytes) -> Sequence[ModelEvent]:
        try:
            chunk = parse(data)
        except ValueError:
            return self._fail(CallFailed(NO_JSON, retry=True))
        try:
            usage = chunk.get("usage")
            if usage or "x_groq" in chunk:
                self._count(usage, chunk)
            error = chunk.get("error")
            if error or chunk.get("object") == "error":
                return self._fail(stream_failure(chunk))
            choices = chunk.get("choices")
            return self._choice(choices[0]) if choices else ()
        except (AttributeError, KeyError, TypeError, IndexError):
            return self._fail(CallFailed("it sent a chunk of an unknown shape", retry=True))

    def end(self, cause: str = CUT) -> Sequence[ModelEvent]:
        """Return calls, usage and the last event."""
        events = self._flush()
        last = self._failure or self._calls_into(events, cause)
        usage = chat_usage(self._usage)
        if usage is not None:
            events.append(usage)
        events.append(last)
        return events

    def _choice(self, choice: dict[str, Any]) -> Sequence[ModelEvent]:
        if choice.get("error"):
            return self._fail(stream_failure(choice))
        finish = choice.get("finish_reason")
        if finish:
            self._finish = str(finish).lower()
        delta = choice.get("delta") or choice.get("message")
        if not delta:
            return ()
        content = delta.get("content")
        if self._think is None and len(delta) == 1 and content and type(content) is str:
            return (TextDelta(content),)  # nearly every chunk of a long answer
        return self._delta(delta, content)

    def _delta(self, delta: dict[str, Any], content: Any) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for name in REASONING:
            thought = delta.get(name)
            if thought and isinstance(thought, str):
                self._reasoning_field = name
                events.append(ReasoningDelta(thought))
                break
        for detail in tables(delta.get("reasoning_details")):
            self._detail(detail)
        if content:
            events += self._text(content) if isinstance(content, str) else self._parts(content)
        if delta.get("refusal"):
            self._refused = True
            events.append(TextDelta(str(delta["refusal"])))
        for call in tables(delta.get("tool_calls")):
            self._call(call)
        if delta.get("function_call"):
            self._call({"index": 0, "function": delta["function_call"]})
        return events

    def _text(self, text: str) -> list[ModelEvent]:
        if self._think is None:
            return [TextDelta(text)]
        thought, shown = self._think.feed(text)
        if self._think.done:
            self._think = None
        return _deltas(thought, shown)

    def _parts(self, parts: Any) -> list[ModelEvent]:
        """Mistral sends a list of parts, some of them thoughts."""
        events: list[ModelEvent] = []
        for part in tables(parts):
            inner = part.get("thinking")
            thought = "".join(text_of(each.get("text")) for each in tables(inner)) or text_of(inner)
            events += _deltas(thought, text_of(part.get("text")))
        return events

    def _detail(self, sent: Mapping[str, Any]) -> None:
        """Join the pieces of one entry, as OpenRouter wants it back."""
        last = self._details[-1] if self._details else {}
        if not last or any(last.get(key) != sent.get(key) for key in ("index", "type")):
            self._details.append(dict(sent))
            return
        for key, value in sent.items():
            joined = key in {"text", "summary", "data"} and isinstance(value, str)
            if joined or value is not None:
                last[key] = text_of(last.get(key)) + value if joined else value

    def _call(self, sent: dict[str, Any]) -> None:
        function = table(sent.get("function"))
        call = self._find(sent.get("index"), text_of(sent.get("id")), text_of(function.get("name")))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # whole, as some local servers send them
            arguments = orjson.dumps(arguments).decode()
        if arguments:
            call.pieces.append(str(arguments))

    def _find(self, index: Any, call_id: str, name: str) -> _Call:
        """Return the call that a delta belongs to.

        By index, if it has one, and by id or name, which only the first delta of a call brings:
        some servers leave the index out, or send 0 for all.
        """
        found = next((each for each in reversed(self._calls) if each.index == index), None)
        if found is None and index is None and not call_id and not name and self._calls:
            found = self._calls[-1]
        other = call_id and found is not None and found.call_id not in {"", call_id}
        unnumbered = index is None and name and (not call_id or found is None)
        if found is None or unnumbered or (other and name):
            found = _Call(index)
            self._calls.append(found)
        found.call_id = found.call_id or call_id
        found.name = found.name or name
        return found

    def _calls_into(self, events: list[ModelEvent], cause: str) -> ModelEvent:
        """Add the calls to ``events`` and return the last event."""
        if not self._finish:
            return CallFailed(cause, retry=True)
        if self._finish in FAULTS:
            return CallFailed(f"it stopped with {self._finish!r}", retry=True)
        reason = "refused" if self._refused else FINISHES.get(self._finish)
        self._keep_into(events)
        for call in self._calls:
            sent = "".join(call.pieces)
            arguments = arguments_of(call.name, sent, self._bare)
            if reason != "length" and (arguments is None or not call.name):
                return without_arguments(call.name)
            call_id = call.call_id or self._new_id()
            events.append(ToolCalled(call_id, call.name, arguments or ""))
        return finished(reason, self._finish, calls=bool(self._calls))

    def _keep_into(self, events: list[ModelEvent]) -> None:
        if self._details:
            events.append(KeepForLater({"from": FROM, "reasoning_details": self._details}))
        elif self._reasoning_field:
            kept = {"from": FROM, "reasoning_field": self._reasoning_field}
            events.append(KeepForLater(kept))

    def _count(self, usage: Any, chunk: Mapping[str, Any]) -> None:
        sent = table(usage) or table(table(chunk.get("x_groq")).get("usage"))
        self._usage = merged(self._usage, sent)

    def _flush(self) -> list[ModelEvent]:
        think, self._think = self._think, None
        return [] if think is None else _deltas(*think.finish())

    def _fail(self, failure: CallFailed) -> tuple[()]:
        self._failure = failure
        self.over = True
        return ()


def _deltas(thought: str, text: str) -> list[ModelEvent]:
    events: list[ModelEvent] = [ReasoningDelta(thought)] if thought else []
    if text:
        events.append(TextDelta(text))
    return events


def _only_text(data: bytes) -> str | None:
    """Return the text of a chunk in which there is nothing else to note."""
    try:
        chunk = parse(data)
        (choice,) = chunk["choices"]
        delta = choice["delta"]
        noted = (chunk.get("usage"), chunk.get("error"), choice.get("error"))
        if any(noted) or choice.get("finish_reason") or "x_groq" in chunk or len(delta) != 1:
            return None
        text = delta["content"]
    except (ValueError, AttributeError, KeyError, TypeError):
        return None
    return text if type(text) is str and chunk.get("object") != "error" else None
