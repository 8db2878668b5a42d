"""What a model's provider is: one request in, a stream of events out, the same for every vendor.

A provider knows its wire format and nothing of sessions, Ops or tools.  It calls once and never
tries again: retries, budgets and what is shown belong to whoever asks.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Role: TypeAlias = Literal["user", "assistant"]
FinishReason: TypeAlias = Literal["stop", "tools", "length", "refused", "pause", "broken"]
"""``pause``: send the same again; ``broken``: it ended with a word that nobody here knows."""
Effort: TypeAlias = Literal["off", "low", "medium", "high", "max"]
"""How much a model shall think before it answers."""
Origin: TypeAlias = Literal["model", "credential"]
"""Whose fault a failed call is: the provider's (or the way to it), or that of the key."""


# --- what is sent


@frozen
class Text:
    """Plain text."""

    text: str


@frozen
class Image:
    """A picture, base64 as it came."""

    mime_type: str
    data: str


@frozen
class ToolUse:
    """A call that the model made; ``arguments`` is the JSON text that it sent."""

    call_id: str
    name: str
    arguments: str


@frozen
class ToolOutput:
    """What came of a call."""

    call_id: str
    text: str
    failed: bool = False


@frozen
class Reasoning:
    """What the model thought aloud; sent back only to providers that want it."""

    text: str


@frozen
class Kept:
    """What the provider wants back as it was: signatures, encrypted reasoning.

    ``payload["from"]`` names the wire format; the others pass over it.
    """

    payload: Mapping[str, Any]


Part: TypeAlias = Text | Image | Reasoning | ToolUse | ToolOutput | Kept


@frozen
class Message:
    """One side's turn of the conversation.  Outputs of tools are the user's side."""

    role: Role
    parts: tuple[Part, ...]


@frozen
class Tool:
    """A function that the model may call; ``schema`` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@frozen
class ModelRequest:
    """One call.  None leaves a setting to the provider."""

    model: str
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[Tool, ...] = ()
    max_output_tokens: int | None = None
    temperature: float | None = None
    effort: Effort | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """A provider's own settings, passed on as they are; they win over ours."""


# --- what comes back


@frozen
class TextDelta:
    """A piece of the answer."""

    text: str


@frozen
class ReasoningDelta:
    """A piece of what the model thinks aloud."""

    text: str


@frozen
class ToolCalled:
    """A call whose arguments have arrived in full; whether they are JSON is not judged here."""

    call_id: str
    name: str
    arguments: str


@frozen
class KeepForLater:
    """Send ``payload`` back with the answer, verbatim; see `Kept`."""

    payload: Mapping[str, Any]


@frozen
class Usage:
    """Tokens of the call so far; a later event replaces an earlier one.

    Cached tokens are part of the input, reasoning is part of the output, whatever the vendor says.
    None: the vendor did not say.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    sent: Mapping[str, Any] | None = None
    """As the vendor sent it, for who wants to see that; it is not compared."""

    def __eq__(self, other: object) -> bool:
        """Compare the counts."""
        return self.counts == other.counts if isinstance(other, Usage) else NotImplemented

    def __hash__(self) -> int:
        """Hash the counts."""
        return hash(self.counts)

    @property
    def counts(self) -> tuple[int | None, ...]:
        """All of them, in their order."""
        cached = (self.cache_read_tokens, self.cache_write_tokens)
        return (self.input_tokens, self.output_tokens, *cached, self.reasoning_tokens)


@frozen
class Noted:
    """Something a person should know about the call, said once: a setting that had no effect."""

    text: str


@frozen
class Finished:
    """The last event of a call that came through; ``detail`` is the vendor's own word."""

    reason: FinishReason
    detail: str = ""


@frozen
class CallFailed:
    """The last event of a call that did not; ``message`` is shown to people and has no secret.

    ``status`` is the HTTP status, None when it never came so far.  ``retry`` tells whether the
    same call may do better later, ``retry_after_s`` for how many seconds the provider asks to
    wait before.  ``context_overflow``: the conversation is too long for the model.
    """

    message: str
    status: int | None = None
    retry: bool = False
    retry_after_s: float | None = None
    origin: Origin = "model"
    context_overflow: bool = False


ModelEvent: TypeAlias = (
    TextDelta | ReasoningDelta | ToolCalled | KeepForLater | Usage | Noted | Finished | CallFailed
)


class Cancel(Protocol):
    """How a stream learns that nobody wants it any more; `actors.work.CancelToken` is one."""

    def is_set(self) -> bool:
        """Tell whether it was cancelled."""
        ...

    def wait(self, timeout_s: float) -> bool:
        """Sleep up to ``timeout_s`` seconds; True as soon as it was cancelled."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once on cancel, at once when it already happened; it must not wait."""
        ...


class Provider(Protocol):
    """One place where models can be called.  Safe to use from several threads."""

    def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
        """Call the model on the caller's thread and yield what comes.

        The last event is `Finished` or `CallFailed`, exactly one of them, unless ``cancel`` was
        set: then the iterator just ends, soon.  Raises only by being wrong.
        """
        ...
