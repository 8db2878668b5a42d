"""`job`: what runs in the background: a list, the output of one, its end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from runtimes.radian.permissions import Request
from runtimes.radian.tools.base import Prepared, ToolFailedError, ToolOutcome, ToolView
from runtimes.radian.tools.disk import open_regular
from runtimes.radian.tools.full_output import MAX_RESULT_BYTES, shorten
from runtimes.radian.tools.running import one_line, run_callable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun
    from runtimes.radian.tools.jobs import Job, Jobs

ACTIONS = ("list", "output", "stop")


class JobTool:
    """Looks at background programs and ends them."""

    name = "job"
    kind: Kind = "execute"
    read_only = False
    summary = "List background jobs, read what one has printed last, or stop one."
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "job_id": {"type": "string", "description": "For output and stop"},
        },
        "required": ["action"],
        "additionalProperties": False,
    }

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Check that there is such a job."""
        jobs = _jobs(context)
        job_id = values.get("job_id", "")
        if values["action"] != "list" and jobs.get(job_id) is None:
            known = ", ".join(job.job_id for job in jobs.list()) or "none"
            message = f"there is no job {job_id!r}; known are {known}"
            raise ToolFailedError(message)
        title = one_line(f"Jobs: {values['action']} {job_id}")
        return Prepared(self.name, values, ToolView(title), Request(self.name, "talk", job_id))

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the look or the stop."""
        del call_id
        action, job_id = prepared.input["action"], prepared.input.get("job_id", "")
        return run_callable(f"job-{action}", lambda _work: _act(action, job_id, context))


def _act(action: str, job_id: str, context: ToolContext) -> ToolOutcome:
    jobs = _jobs(context)
    match action:
        case "list":
            return ToolOutcome("\n".join(map(_line, jobs.list())) or "no jobs")
        case "output":
            job = jobs.get(job_id)
        case _:
            job = jobs.stop(job_id)
    if job is None:
        message = f"there is no job {job_id!r}"
        raise ToolFailedError(message)
    return ToolOutcome(f"{_line(job)}\n{_last_output(job, context)}".rstrip())


def _jobs(context: ToolContext) -> Jobs:
    if context.jobs is None:
        message = "nothing can run in the background here"
        raise ToolFailedError(message)
    return context.jobs


def _line(job: Job) -> str:
    state = f"exited {job.exit_code}" if job.state == "exited" else job.state
    why = f" ({job.error})" if job.error else ""
    return f"{job.job_id}: {state}{why}: {one_line(job.command)}"


def _last_output(job: Job, context: ToolContext) -> str:
    try:
        fd = open_regular(job.output_file, context.faults)
    except FileNotFoundError:
        return "[no output]"
    with os.fdopen(fd, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        start = max(0, size - MAX_RESULT_BYTES)
        stream.seek(start)
        text = stream.read(MAX_RESULT_BYTES).decode("utf-8", "replace")
    if start:
        text = f"[{start} bytes before; all of it is in {job.output_file}]\n{text}"
    return shorten(text, MAX_RESULT_BYTES * 4)
