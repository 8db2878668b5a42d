"""What a turn says while it runs, as values: for ACP updates, the JSON stream and the terminal.

Nothing here is the journal; a delta is said once and never repeated in a later event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from runtimes.models.base import Usage as TokenUsage
    from runtimes.radian.records import DecidedBy, Decision, End, Origin
    from runtimes.radian.tools.base import Diff, Kind, Location
    from runtimes.radian.tools.jobs import JobState


@frozen
class SessionStarted:
    """The first event of a process; ``workspace`` is absolute, without links."""

    session_id: str
    workspace: str
    provider: str
    model: str
    profile: str
    trusted: bool
    resumed: bool
    version: str
    mcp_servers: tuple[str, ...] = ()
    """Those that are being started."""


@frozen
class TurnStarted:
    """A turn began."""

    turn: int
    origin: Origin


@frozen
class Text:
    """A piece of the answer to model call number ``call`` of the turn."""

    turn: int
    call: int
    delta: str


@frozen
class Reasoning:
    """A piece of what the model thinks aloud."""

    turn: int
    call: int
    delta: str


@frozen
class ToolCall:
    """A call is known and valid; whether it may run is decided next.

    ``agent`` here and below: the id of the call whose subagent made this one; such a call is told
    only if a person is asked about it.
    """

    turn: int
    call_id: str
    name: str
    title: str
    kind: Kind
    input: Any
    locations: tuple[Location, ...] = ()
    diff: Diff | None = None
    agent: str | None = None


@frozen
class ToolOutput:
    """A piece of what a command prints, or of what a subagent does, bounded."""

    turn: int
    call_id: str
    delta: str


@frozen
class ToolResult:
    """A call is over."""

    turn: int
    call_id: str
    status: Literal["completed", "failed"]
    output: str
    reason: str | None = None
    agent: str | None = None


@frozen
class Permission:
    """It was decided whether a call may run."""

    turn: int
    call_id: str
    decision: Decision
    source: DecidedBy
    reason: str | None = None
    agent: str | None = None


@frozen
class Usage:
    """Tokens of one model call; ``context_window`` where it is known.

    ``summary``: it was a call for a summary, so its tokens are not the conversation's.
    """

    turn: int
    call: int
    tokens: TokenUsage
    context_window: int | None = None
    summary: bool = False


@frozen
class Retry:
    """A model call failed; attempt number ``attempt`` comes in ``delay_ms``.

    What the failed one showed is void.
    """

    turn: int
    call: int
    attempt: int
    delay_ms: int
    cause: str
    http_status: int | None = None


@frozen
class Compacting:
    """A summary of the conversation is being made, by call ``call``; no part of the JSON stream."""

    turn: int
    call: int


@frozen
class Compaction:
    """A summary took the place of older messages; ``tokens_after`` is an estimate."""

    turn: int
    tokens_before: int
    tokens_after: int | None = None


@frozen
class Warning:  # noqa: A001 - the stream calls it so
    """Something a person should know; ``told``: `actors.logs.say` was given it, where it serves."""

    message: str
    told: bool = False


@frozen
class Job:
    """A background job runs, or has ended."""

    job_id: str
    state: JobState
    exit_code: int | None = None


@frozen
class Asked:
    """A question for the person at the terminal, as text; no part of the JSON stream."""

    text: str


@frozen
class TurnEnded:
    """A turn is over, and its end is on the disk; ``error`` holds no secret."""

    turn: int
    end: End
    reason: str | None = None
    error: str | None = None


Event: TypeAlias = (
    SessionStarted
    | TurnStarted
    | Text
    | Reasoning
    | ToolCall
    | ToolOutput
    | ToolResult
    | Permission
    | Usage
    | Retry
    | Compacting
    | Compaction
    | Warning
    | Job
    | Asked
    | TurnEnded
)
