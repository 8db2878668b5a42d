"""What came of a call, as it is recorded and told.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.radian import events
from runtimes.radian.healing import INTERRUPTED
from runtimes.radian.records import ToolResult
from runtimes.radian.tools.base import ToolOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtimes.radian.records import Status


def recorded(
    turn: int,
    call_id: str,
    outcome: ToolOutcome,
    took_ms: int | None,
    mask: Callable[[str], str],
) -> ToolResult:
    """Return an outcome as the journal keeps it; ``mask`` takes known secrets out of a text."""
    status: Status = "failed" if outcome.failed else "completed"
    output, file = mask(outcome.output), _file_name(outcome)
    return ToolResult(turn, call_id, status, output, outcome.reason, took_ms, file)


def told(result: ToolResult) -> events.ToolResult:
    """Return a result as the turn tells it."""
    return events.ToolResult(
        result.turn, result.call_id, result.status, result.output, result.reason
    )


def interrupted() -> ToolOutcome:
    """Return what comes of a call that was stopped."""
    return ToolOutcome(INTERRUPTED, failed=True, reason=INTERRUPTED)


def _file_name(outcome: ToolOutcome) -> str | None:
    """Return what the journal calls a full output: it lies in the session's own folder."""
    path = outcome.full_output_file
    return None if path is None else path.rpartition("/")[2]
