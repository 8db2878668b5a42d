"""One model call as values: what is asked, what streams back, how it ends.

A provider turns a `ModelCall` into a stream of `ModelEvent`s on a leaf thread.  Everything that
differs between wire formats ends at this seam.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from actors.work import CancelToken

Finish: TypeAlias = Literal["stop", "tools", "length", "refused", "pause", "broken", "cancelled"]
"""How an answer ended, in our words; spec'd per wire format in `docs/providers.md`."""
Effort: TypeAlias = Literal["off", "low", "medium", "high", "max"]
Origin: TypeAlias = Literal["model", "credential"]


# --- what is asked


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text of a message."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image; ``data`` is base64."""

    data: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What the model thought; ``payload`` is the provider's own form, to be sent back verbatim."""

    text: str
    payload: Any = None


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call that the model wants; ``input`` is the decoded object.

    ``payload`` is what the provider wants back with it, verbatim (a thought signature).
    """

    call_id: str
    name: str
    input: dict[str, Any]
    payload: Any = None


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The answer to a call, as text for the model."""

    call_id: str
    name: str
    output: str
    failed: bool = False
    images: tuple[ImagePart, ...] = ()


UserPart: TypeAlias = TextPart | ImagePart | ToolResultPart
AssistantPart: TypeAlias = TextPart | ReasoningPart | ToolCallPart


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the user, or the tools, said."""

    parts: tuple[UserPart, ...]


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """What the model said."""

    parts: tuple[AssistantPart, ...]


Message: TypeAlias = UserTurn | AssistantTurn


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call; ``schema`` is a closed JSON schema of an object."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request."""

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    effort: Effort | None = None


# --- what streams back


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thinks."""

    text: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The call failed and is made again after ``delay_ms``.

    Text shown so far belongs to an attempt that is gone; what follows is a new message.
    """

    attempt: int
    delay_ms: int
    cause: str
    http_status: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, normalised: ``input_tokens`` includes cached ones, ``output_tokens`` reasoning.

    None: not reported.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CallError:
    """Why a call failed for good; ``message`` is masked and may be shown."""

    message: str
    origin: Origin = "model"
    retryable: bool = False
    http_status: int | None = None
    context_overflow: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The last event of a call.

    ``parts`` is the whole message, in order, joined; with ``error`` set, or finished as
    ``cancelled``, it is what came before, without calls whose arguments are incomplete.
    Times are milliseconds from the request of the attempt that counted.
    """

    parts: tuple[AssistantPart, ...]
    finish: Finish
    usage: Usage | None = None
    error: CallError | None = None
    model_ms: int = 0
    ttft_ms: int | None = None
    payload: dict[str, Any] = field(default_factory=dict[str, Any])
    """The provider's own words worth keeping (usage as sent, response id)."""


ModelEvent: TypeAlias = TextDelta | ReasoningDelta | Retrying | Answer


class Provider(Protocol):
    """One configured provider."""

    def stream(self, call: ModelCall, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Make the call, retries included; the last event is an `Answer`.

        Runs on a leaf thread.  Ends within 50 ms after ``cancel`` is set, also while it is blocked
        in a read or waits for a retry; the `Answer` then says ``cancelled`` and holds what came so
        far.  Never raises for what a server does.
        """
        ...
