"""Reads an answer of Google's Gemini API.  Pure."""

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
from runtimes.models.json_text import encode, parse, table, tables, text_of
from runtimes.models.stream_parser import (
    CUT,
    NO_JSON,
    Called,
    finished,
    new_call_id,
    one_by_one,
    without_arguments,
)
from runtimes.models.usage import gemini_usage, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runtimes.models.base import ModelEvent

FROM = "gemini"
FINISHES: dict[str, FinishReason] = {
    "STOP": "stop",
    "FUNCTION_CALL": "tools",  # not Google's own, but sent by imitators
    "MAX_TOKENS": "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "LANGUAGE": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "IMAGE_SAFETY": "refused",
}
FAULTS = frozenset({"MALFORMED_FUNCTION_CALL", "FINISH_REASON_UNSPECIFIED"})


class GeminiStream:
    """See `runtimes.models.stream_parser.StreamParser`.  The end of the bytes is its only end."""

    def __init__(self, new_id: Callable[[], str] = new_call_id) -> None:
        """Have read nothing."""
        self.over = False
        self._new_id = new_id
        self._usage: dict[str, Any] = {}
        self._finish = ""
        self._blocked = ""
        self._calls = Called()
        self._failure: CallFailed | None = None

    def take(self, data: bytes) -> Sequence[ModelEvent]:
        """Read one chunk."""
        try:
            chunk = parse(data)
        except ValueError:
            failure = CallFailed(NO_JSON, retry=True)
            return () if data.startswith(b"[DONE]") else self._fail(failure)
        try:
            usage = chunk.get("usageMetadata")
            if usage:
                self._usage = merged(self._usage, table(usage))
            if chunk.get("error"):
                return self._fail(stream_failure(chunk))
            candidates = chunk.get("candidates")
            if not candidates:
                blocked = table(chunk.get("promptFeedback")).get("blockReason")
                self._blocked = text_of(blocked) or self._blocked
                return ()
            return self._candidate(candidates[0])
        except (AttributeError, KeyError, TypeError, IndexError):
            return self._fail(CallFailed("it sent a chunk of an unknown shape", retry=True))

    def take_all(self, datas: Sequence[bytes]) -> list[ModelEvent]:
        """Read what one read brought."""
        return one_by_one(self, datas)

    def end(self, cause: str = CUT) -> Sequence[ModelEvent]:
        """Return usage and the last event."""
        usage = gemini_usage(self._usage)
        last = self._failure or self._last(cause)
        return (last,) if usage is None else (usage, last)

    def _candidate(self, candidate: dict[str, Any]) -> Sequence[ModelEvent]:
        self._finish = text_of(candidate.get("finishReason")) or self._finish
        events: list[ModelEvent] = []
        for part in tables(table(candidate.get("content")).get("parts")):
            self._part(part, events)
            if self.over:
                break
        return events

    def _part(self, part: dict[str, Any], events: list[ModelEvent]) -> None:
        signature = part.get("thoughtSignature")
        if "functionCall" in part:
            self._called(table(part["functionCall"]), signature, events)
            return
        text = text_of(part.get("text"))
        if text:
            events.append(ReasoningDelta(text) if part.get("thought") else TextDelta(text))
        if signature:
            events.append(KeepForLater({"from": FROM, "thoughtSignature": signature}))

    def _called(self, call: dict[str, Any], signature: Any, events: list[ModelEvent]) -> None:
        name = text_of(call.get("name"))
        if not name:
            self._fail(without_arguments(name))
            return
        given = text_of(call.get("id"))
        arguments = encode(table(call.get("args"))).decode()
        if self._calls.again(given, name, arguments):
            return
        call_id = given or self._new_id()
        back = {"id": given, "thoughtSignature": signature}
        kept = {key: value for key, value in back.items() if value}
        if kept:
            events.append(KeepForLater({"from": FROM, "call_id": call_id, **kept}))
        events.append(ToolCalled(call_id, name, arguments))

    def _last(self, cause: str) -> ModelEvent:
        if self._finish in FAULTS:
            return CallFailed(f"it stopped with {self._finish}", retry=True)
        if self._finish:
            return finished(FINISHES.get(self._finish), self._finish, calls=self._calls.any)
        if self._blocked:
            return finished("refused", self._blocked, calls=False)
        return CallFailed(cause, retry=True)

    def _fail(self, failure: CallFailed) -> tuple[()]:
        self._failure = failure
        self.over = True
        return ()
