"""Reads an answer of OpenAI's Responses API.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.models.base import (
    CallFailed,
    FinishReason,
    KeepForLater,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
)
from runtimes.models.failures import stream_failure
from runtimes.models.json_text import parse, table, tables, text_of
from runtimes.models.stream_parser import (
    CUT,
    NO_JSON,
    Called,
    arguments_of,
    finished,
    new_call_id,
    one_by_one,
    without_arguments,
)
from runtimes.models.usage import merged, responses_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runtimes.models.base import ModelEvent

FROM = "openai"
TEXT_DELTA = "response.output_text.delta"
REASONING_DELTAS = frozenset(
    {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}
)
INCOMPLETE: dict[str, FinishReason] = {
    "max_output_tokens": "length",
    "": "length",  # imitators give no reason, and what else could it be
    "content_filter": "refused",
}


class ResponsesStream:
    """See `runtimes.models.stream_parser.StreamParser`."""

    def __init__(
        self, bare: frozenset[str] = frozenset(), new_id: Callable[[], str] = new_call_id
    ) -> None:
        """Have read nothing; ``bare`` are tools without arguments."""
        self.over = False
        self._bare = bare
        self._new_id = new_id
        self._response: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._calls = Called()
        self._seen: set[Any] = set()
        """Output items whose text came in deltas."""
        self._ended = False
        """An output item came in an event of its own."""
        self._thought = False
        self._refused = False
        self._failure: CallFailed | None = None

    def take(self, data: bytes) -> Sequence[ModelEvent]:
        """Read one event."""
        if data.startswith(b"[DONE]"):
            return ()
        try:
            event = parse(data)
        except ValueError:
            return self._fail(CallFailed(NO_JSON, retry=True))
        try:
            kind = event.get("type")
            if kind == TEXT_DELTA:
                self._seen.add(event.get("output_index"))
                delta = event["delta"]
                return (TextDelta(delta),) if delta and type(delta) is str else ()
            return self._other(kind, event)
        except (AttributeError, KeyError, TypeError):
            return self._fail(CallFailed("it sent an event of an unknown shape", retry=True))

    def _other(self, kind: Any, event: dict[str, Any]) -> Sequence[ModelEvent]:
        if kind in REASONING_DELTAS:
            self._thought = True
            thought = text_of(event["delta"])
            return (ReasoningDelta(thought),) if thought else ()
        if kind == "response.reasoning_summary_part.added" and self._thought:
            return (ReasoningDelta("\n\n"),)
        if kind == "response.refusal.delta":
            self._refused = True
            self._seen.add(event.get("output_index"))
            refusal = text_of(event["delta"])
            return (TextDelta(refusal),) if refusal else ()
        if kind == "response.output_item.done":
            self._ended = True
            return self._item(event.get("output_index"), table(event.get("item")))
        if kind in {"response.completed", "response.incomplete", "response.done"}:
            self._response = table(event.get("response"))
            self._usage = merged(self._usage, table(self._response.get("usage")))
            self.over = True
            return self._missed()
        if kind in {"error", "response.failed"} or (kind is None and event.get("error")):
            return self._failed(event)
        return ()

    def take_all(self, datas: Sequence[bytes]) -> list[ModelEvent]:
        """Read what one read brought."""
        return one_by_one(self, datas)

    def end(self, cause: str = CUT) -> Sequence[ModelEvent]:
        """Return usage and the last event."""
        usage = responses_usage(self._usage)
        last = self._failure or self._last(cause)
        return (last,) if usage is None else (usage, last)

    def _item(self, index: Any, item: dict[str, Any]) -> Sequence[ModelEvent]:
        """Take a finished item; those of tools that the provider runs itself are passed over."""
        kind = item.get("type")
        if kind == "reasoning" and item.get("encrypted_content"):
            kept = {key: value for key, value in item.items() if key != "status"}
            return (KeepForLater({"from": FROM, "item": kept}),)
        if kind == "message" and index not in self._seen:
            parts = tables(item.get("content"))
            self._refused |= any(each.get("type") == "refusal" for each in parts)
            texts = (text_of(each.get("text")) or text_of(each.get("refusal")) for each in parts)
            return tuple(TextDelta(text) for text in texts if text)
        return self._called(item) if kind == "function_call" else ()

    def _missed(self) -> list[ModelEvent]:
        """Take what the whole answer has and no event brought: a call must not be lost."""
        all_missed = not self._ended and not self._seen
        events: list[ModelEvent] = []
        for index, item in enumerate(tables(self._response.get("output"))):
            call_id = text_of(item.get("call_id"))
            missed = item.get("type") == "function_call" and not self._calls.knows(call_id)
            if all_missed or (call_id and missed):
                events += self._item(index, item)
        return events

    def _called(self, item: dict[str, Any]) -> Sequence[ModelEvent]:
        name = text_of(item.get("name"))
        arguments = arguments_of(name, text_of(item.get("arguments")), self._bare)
        if item.get("status") != "incomplete" and (arguments is None or not name):
            return self._fail(without_arguments(name))
        given = text_of(item.get("call_id")) or text_of(item.get("id"))
        if self._calls.again(given, name, arguments or ""):
            return ()
        return (ToolCalled(given or self._new_id(), name, arguments or ""),)

    def _last(self, cause: str) -> ModelEvent:
        if not self.over:
            return CallFailed(cause, retry=True)
        why = text_of(table(self._response.get("incomplete_details")).get("reason"))
        cut = self._response.get("status") == "incomplete"
        reason = INCOMPLETE.get(why) if cut else "refused" if self._refused else "stop"
        return finished(
            reason, (why or "incomplete") if cut else "completed", calls=self._calls.any
        )

    def _failed(self, event: dict[str, Any]) -> tuple[()]:
        response = table(event.get("response"))
        self._usage = merged(self._usage, table(response.get("usage")))
        return self._fail(stream_failure(response if response.get("error") else event))

    def _fail(self, failure: CallFailed) -> tuple[()]:
        self._failure = failure
        self.over = True
        return ()
