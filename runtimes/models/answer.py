"""An answer, put together from the events of a call.  Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocol.values import frozen
from runtimes.models.base import (
    KeepForLater,
    Kept,
    Noted,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCalled,
    ToolUse,
    Usage,
)
from runtimes.models.json_text import mended, read_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.models.base import FinishReason, ModelEvent, Origin

AnswerPart: TypeAlias = Text | Reasoning | ToolUse | Kept


@frozen
class CallError:
    """Why a call failed for good; ``message`` is for people and holds no secret.

    ``retryable``: it was tried again as often as allowed, and may do better another day.
    """

    message: str
    origin: Origin = "model"
    retryable: bool = False
    http_status: int | None = None
    context_overflow: bool = False


@frozen
class Answer:
    """What came of a call, always its last event.

    ``parts`` are in the order they came; each call among them has a JSON object as arguments.
    After a cancel they are what came so far; after an error they hold no call.
    """

    parts: tuple[AnswerPart, ...] = ()
    finish: FinishReason | Literal["cancelled"] = "broken"
    """``broken`` with an `error`: the call failed; without: it ended with an unknown word."""
    detail: str = ""
    """The provider's own word for its finish."""
    usage: Usage | None = None
    error: CallError | None = None
    dropped: tuple[ToolUse, ...] = ()
    """Calls that must not be run: their arguments are cut off, or no JSON object."""
    notes: tuple[str, ...] = ()
    """Remarks for people: settings that had no effect."""
    retries: int = 0
    model_ms: int = 0
    """From requests sent to last bytes, without the waits between attempts."""
    ttft_ms: int | None = None
    """From the request that was answered to its first piece; None: no piece came."""

    @property
    def text(self) -> str:
        """The text of the answer, without reasoning."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """The calls that may be run."""
        return tuple(part for part in self.parts if isinstance(part, ToolUse))

    @property
    def counted(self) -> Usage | None:
        """The usage in our own terms alone."""
        return None if self.usage is None else replace(self.usage, sent=None)

    @property
    def sent_usage(self) -> Mapping[str, Any] | None:
        """The usage in the vendor's terms, under a key of its own."""
        sent = None if self.usage is None else self.usage.sent
        return {"usage": sent} if sent else None

    @property
    def payload(self) -> tuple[Mapping[str, Any], ...]:
        """What has to be sent back verbatim; see `Kept`, which holds its place among the parts."""
        return tuple(part.payload for part in self.parts if isinstance(part, Kept))


class Assembly:
    """Collects the events of one attempt."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._parts: list[AnswerPart] = []
        self._pieces: list[str] = []
        self._kind: type[Text | Reasoning] = Text
        self.usage: Usage | None = None
        self.dropped: list[ToolUse] = []
        self.notes: list[str] = []

    def take(self, event: ModelEvent) -> bool:
        """Add an event; True if it was one to be shown."""
        if isinstance(event, TextDelta):
            self._more(Text, event.text)
            return True
        match event:
            case ReasoningDelta(text):
                self._more(Reasoning, text)
                return True
            case ToolCalled(call_id, name, arguments):
                self._called(ToolUse(call_id, name, arguments))
            case KeepForLater(payload):
                self._settle()
                self._parts.append(Kept(payload))
            case Usage():
                self.usage = event
            case Noted(text):
                self.notes.append(text)
            case _:
                pass  # the last event is its reader's business
        return False

    def parts(self, *, calls: bool = True) -> tuple[AnswerPart, ...]:
        """Return what came so far."""
        self._settle()
        return tuple(part for part in self._parts if calls or not isinstance(part, ToolUse))

    def _more(self, kind: type[Text | Reasoning], text: str) -> None:
        if kind is not self._kind:
            self._settle()
            self._kind = kind
        self._pieces.append(text)

    def _called(self, call: ToolUse) -> None:
        self._settle()
        if read_object(call.arguments) is None:
            self.dropped.append(call)
        else:
            self._parts.append(replace(call, arguments=mended(call.arguments)))

    def _settle(self) -> None:
        if self._pieces:
            self._parts.append(self._kind("".join(self._pieces)))
            self._pieces = []
