"""What a journal holds: one frozen value for each type of record.

None, false and nothing mean "not known" or "not so" and are not written.  Durations are
milliseconds, money is in micros of a US dollar.  `record_json` turns these into lines and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocol.named_tuple import NamedTuple
from protocol.values import frozen
from runtimes.models.base import Kept, Reasoning, Text, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
"""The ``v`` of each record.  A reader refuses what is above it."""

Origin: TypeAlias = Literal["prompt", "wake", "subagent"]
Source: TypeAlias = Literal["user", "job", "hook"]
Finish: TypeAlias = Literal[
    "stop", "tools", "length", "refused", "pause", "broken", "failed", "cancelled"
]
Status: TypeAlias = Literal["completed", "failed"]
Decision: TypeAlias = Literal["allow_once", "allow_always", "deny"]
DecidedBy: TypeAlias = Literal["profile", "rule", "hook", "grant", "user", "yes", "nobody"]
End: TypeAlias = Literal["Completed", "Interrupted", "Incomplete", "Failed"]
IncompleteReason: TypeAlias = Literal[
    "truncated", "model_calls", "cost", "time", "refused", "unfinished"
]


# --- parts of messages; text, reasoning and what a provider wants back are those of `models.base`


@frozen
class ImageFile:
    """A picture whose bytes lie in a side file named by their sha256 digest (hex)."""

    digest: str
    mime_type: str


@frozen
class Resource:
    """Something the user pointed at, or, with ``text``, put in."""

    uri: str
    name: str = ""
    text: str | None = None


@frozen
class ToolCall:
    """A call that the model made in full; ``input`` is its arguments, parsed."""

    call_id: str
    name: str
    input: Any


UserPart: TypeAlias = Text | ImageFile | Resource
AssistantPart: TypeAlias = Text | Reasoning | ToolCall | Kept


# --- records


@frozen
class Parent:
    """Where a fork came from: the session and the number of the last record taken."""

    session_id: str
    seq: int


@frozen
class SessionCreated:
    """The first record of each journal; ``workspace`` is resolved and absolute."""

    session_id: str
    workspace: str
    version: str
    parent: Parent | None = None


@frozen
class RunStarted:
    """A process began to write.  ``flags`` are those that matter; never a key."""

    provider: str
    model: str
    profile: str
    trusted: bool
    effort: str | None = None
    flags: Mapping[str, Any] | None = None
    version: str | None = None


@frozen
class TurnStarted:
    """A turn began.  Turns count from 1.

    ``agent`` here and below: the call id of the subagent whose conversation it belongs to.
    """

    turn: int
    origin: Origin
    agent: str | None = None


@frozen
class UserMessage:
    """What a turn was asked, or what came to it from a job or a hook."""

    turn: int
    content: tuple[UserPart, ...]
    source: Source = "user"
    agent: str | None = None


@frozen
class AssistantMessage:
    """What one call of the model brought, failed and cut ones included.

    ``partial``: cut by an interruption.  ``continues``: goes on where the message before it was
    cut off.  ``superseded``: another attempt took its place; it counts and costs, and is no part
    of the conversation.  ``payload``: raw data of the provider, not sent back.
    """

    turn: int
    call: int
    parts: tuple[AssistantPart, ...]
    finish: Finish
    partial: bool = False
    continues: bool = False
    superseded: bool = False
    error: str | None = None
    model: str | None = None
    usage: Usage | None = None
    context_window: int | None = None
    cost_micros: int | None = None
    price_source: str | None = None
    model_ms: int | None = None
    ttft_ms: int | None = None
    payload: Mapping[str, Any] | None = None
    agent: str | None = None


@frozen
class ToolResult:
    """What came of a call.  ``full_output_file`` names a side file of the session."""

    turn: int
    call_id: str
    status: Status
    output: str
    reason: str | None = None
    ms: int | None = None
    full_output_file: str | None = None
    agent: str | None = None


@frozen
class PermissionDecided:
    """Whether a call was let through; ``wait_ms`` only where somebody was asked."""

    turn: int
    call_id: str
    decision: Decision
    source: DecidedBy
    wait_ms: int | None = None
    reason: str | None = None
    agent: str | None = None


@frozen
class QuestionAnswered:
    """The answer to one question of ``ask_user``; None: there was none."""

    turn: int
    call_id: str
    question: str
    option: str | None = None
    wait_ms: int | None = None
    agent: str | None = None


@frozen
class Compacted:
    """The conversation before record ``first_kept_seq`` is ``summary`` from here on.

    The rest is about the call that made the summary.
    """

    turn: int
    summary: str
    first_kept_seq: int
    tokens_before: int | None = None
    call: int | None = None
    model: str | None = None
    usage: Usage | None = None
    cost_micros: int | None = None
    price_source: str | None = None
    model_ms: int | None = None
    agent: str | None = None


@frozen
class JobStarted:
    """A command went to the background."""

    job_id: str
    command: str
    turn: int | None = None


@frozen
class JobFinished:
    """It ended: by itself with ``exit_code``, or killed."""

    job_id: str
    command: str
    exit_code: int | None = None
    killed: bool = False
    turn: int | None = None


@frozen
class TurnEnded:
    """The last record of a turn; ``error`` is masked, ``origin`` is model, hook or credential."""

    turn: int
    end: End
    reason: str | None = None
    origin: str | None = None
    retryable: bool | None = None
    error: str | None = None
    wall_ms: int | None = None
    agent: str | None = None


Record: TypeAlias = (
    SessionCreated
    | RunStarted
    | TurnStarted
    | UserMessage
    | AssistantMessage
    | ToolResult
    | PermissionDecided
    | QuestionAnswered
    | Compacted
    | JobStarted
    | JobFinished
    | TurnEnded
)


class Entry(NamedTuple):
    """A record in its place: its number in the journal and when it was written (RFC 3339)."""

    seq: int
    ts: str
    record: Record
