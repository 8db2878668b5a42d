"""A provider that plays a file instead of calling anybody: for tests, demos and rehearsals."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ops.plain_file import plain
from protocol.values import frozen
from runtimes.models.base import (
    CallFailed,
    Finished,
    FinishReason,
    Noted,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCalled,
    Usage,
)
from runtimes.models.config import ScriptInvalid
from runtimes.models.failures import judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runtimes.models.base import Cancel, ModelEvent, ModelRequest

Then: TypeAlias = Literal["repeat-last", "error"]
KEYS = ("text", "reasoning", "tool_calls", "finish", "usage", "delay_ms", "chunk", "error", "when")
FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "tools": "tools",
    "length": "length",
    "refused": "refused",
    "pause": "pause",
    "broken": "broken",
}
NO_EFFORT = "a script does not take --effort"
THENS: dict[str, Then] = {"repeat-last": "repeat-last", "error": "error"}
MAX_SCRIPT_BYTES = 16 * 1024 * 1024


@frozen
class Entry:
    """What one call brings.  ``when`` must be part of the last user message."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCalled, ...] = ()
    finish: FinishReason = "stop"
    usage: Usage | None = None
    delay_ms: int = 0
    """Before each piece."""
    chunk: int = 0
    """Characters in a piece; 0: all of it is one."""
    error: CallFailed | None = None
    """After the pieces, if there are any."""
    when: str = ""


@dataclass(slots=True)
class Scripted:
    """See `runtimes.models.base.Provider`.  Each call plays the first entry left that fits."""

    entries: tuple[Entry, ...]
    then: Then = "error"
    """What a call gets when no entry is left that fits."""
    _left: list[Entry] = field(init=False)
    _last: Entry | None = field(init=False, default=None)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _noted: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Begin at the first entry."""
        self._left = list(self.entries)

    def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
        """Play one entry."""
        if request.effort is not None and not self._noted:
            self._noted = True
            yield Noted(NO_EFFORT)
        entry = self._next(_last_user_text(request))
        if entry is None:
            yield CallFailed("the script has no call left that fits")
            return
        for event in _events(entry):
            if entry.delay_ms and cancel.wait(entry.delay_ms / 1000):
                return
            if cancel.is_set():
                return
            yield event

    def _next(self, said: str) -> Entry | None:
        with self._lock:
            found = next((each for each in self._left if each.when in said), None)
            if found is not None:
                self._left.remove(found)
                self._last = found
                return found
            return self._last if self.then == "repeat-last" else None


def read_script(path: str) -> Scripted:
    """Return what plays the JSON file at ``path``.

    Raises:
        ScriptInvalid: It can't be read, or something in it is wrong.

    """
    try:
        with open(path, "rb", opener=plain) as stream:
            data = stream.read(MAX_SCRIPT_BYTES + 1)
        script: Any = json.loads(data[:MAX_SCRIPT_BYTES])
    except (OSError, ValueError, RecursionError) as error:
        from runtimes.models.system_words import system_words

        message = f"script {path} can't be read: {system_words(error)}"
        raise ScriptInvalid(message) from error
    try:
        return _script(script)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        message = f"script {path}: {error}"
        raise ScriptInvalid(message) from error


def _script(script: Any) -> Scripted:
    table = _table(script, ("calls", "then"), "the script")
    then = THENS.get(table.get("then", "error"))
    if then is None:
        message = f"then must be one of {', '.join(THENS)}, not {table['then']!r}"
        raise ValueError(message)
    calls = table.get("calls", [])
    entries = (_entry(_table(each, KEYS, f"call {at}")) for at, each in enumerate(calls, 1))
    return Scripted(tuple(entries), then)


def _entry(call: Mapping[str, Any]) -> Entry:
    finish = call.get("finish", "tools" if call.get("tool_calls") else "stop")
    if finish not in FINISHES:
        message = f"finish must be one of {', '.join(FINISHES)}, not {finish!r}"
        raise ValueError(message)
    return Entry(
        text=str(call.get("text", "")),
        reasoning=str(call.get("reasoning", "")),
        tool_calls=tuple(
            ToolCalled(str(each.get("id", f"call-{at}")), str(each["name"]), _arguments(each))
            for at, each in enumerate(call.get("tool_calls", ()), 1)
        ),
        finish=FINISHES[finish],
        usage=Usage(**call["usage"]) if "usage" in call else None,
        delay_ms=int(call.get("delay_ms", 0)),
        chunk=int(call.get("chunk", 0)),
        error=_error(call["error"]) if "error" in call else None,
        when=str(call.get("when", "")),
    )


def _arguments(call: Mapping[str, Any]) -> str:
    given = call.get("input", {})
    # Text is sent as it stands, so that a script can play arguments that are no JSON.
    return given if isinstance(given, str) else json.dumps(given)


def _error(error: Mapping[str, Any]) -> CallFailed:
    message = str(error.get("message", "scripted failure"))
    return judged(message, error.get("status"), error, error.get("retry_after_s"))


def _events(entry: Entry) -> Iterator[ModelEvent]:
    for piece in _pieces(entry.reasoning, entry.chunk):
        yield ReasoningDelta(piece)
    for piece in _pieces(entry.text, entry.chunk):
        yield TextDelta(piece)
    if entry.error is not None:
        yield entry.error
        return
    yield from entry.tool_calls
    if entry.usage is not None:
        yield entry.usage
    yield Finished(entry.finish)


def _pieces(text: str, size: int) -> Iterator[str]:
    size = size if size > 0 else len(text) or 1
    return (text[at : at + size] for at in range(0, len(text), size))


def _last_user_text(request: ModelRequest) -> str:
    said = [message for message in request.messages if message.role == "user"]
    parts = said[-1].parts if said else ()
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _table(value: Any, known: tuple[str, ...], what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{what} must be an object"
        raise TypeError(message)
    table = cast("dict[str, Any]", value)
    for key in table:
        if key not in known:
            message = f"{what} has an unknown key {key!r}; known: {', '.join(known)}"
            raise ValueError(message)
    return table
