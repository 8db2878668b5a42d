"""Steps between `ops` and `actors`: work to start on the way out, results on the way in.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors import work
from ops import step_result
from ops import work as ops_work

if TYPE_CHECKING:
    from ops.step_result import StepResult


def startable(wanted: ops_work.Work) -> work.Work:
    """Turn what an activity prepared into what the executor starts."""
    if isinstance(wanted, ops_work.ProcessWork):
        return work.ProcessWork(wanted.argv, wanted.cwd, wanted.env, wanted.reports)
    return work.CallableWork(wanted.name, wanted.run)


def result_of(end: work.StepEnd, timeout_s: float | None) -> StepResult:
    """Turn a step's end into what the machine of the run hears."""
    size = end.stdout.total_bytes + end.stderr.total_bytes
    printed = step_result.Printed(end.stdout.text, end.stdout.digest, size)
    match end.kind:
        case "exited" if isinstance(end.value, bytes):
            code = 1 if end.exit_code is None else end.exit_code
            return step_result.reported(code, end.value, printed)
        case "exited":
            return step_result.exited(1 if end.exit_code is None else end.exit_code, printed)
        case "returned":
            return step_result.returned(end.value, printed)
        case "failed":
            return step_result.failed(end.error or "failed", printed)
        case "cancelled":
            return step_result.cancelled(end.exit_code, printed)
        case "timed_out":
            return step_result.timed_out(timeout_s, end.exit_code, printed)
        case "lost":
            return step_result.lost(end.error or "the step's host is gone")
