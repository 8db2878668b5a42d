"""`sleep`: wait, and stop waiting as soon as the step is aborted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.durations import parse_duration
from ops.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext, WorkContext


def prepare(args: Mapping[str, Any], _context: ActivityContext) -> CallableWork:
    """Return the wait."""
    seconds = parse_duration(args["duration"])

    def run(work: WorkContext) -> dict[str, Any]:
        work.cancel.wait(seconds)
        return {}

    return CallableWork("sleep", run)
