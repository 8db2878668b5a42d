"""Programs that run in the background, beyond the turn that started them, until they end.

They are steps of a service of their own; whoever builds the runtime closes it, which kills what
is left.  Output goes to one file a job, bounded.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from protocol.values import frozen
from runtimes.radian.tools.full_output import FullOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.faults import Faults
    from actors.platform import Platform
    from actors.work import ProcessWork, StepEnd, StepHandle, StepService, Stream

JobState: TypeAlias = Literal["running", "exited", "killed", "failed"]

MAX_RUNNING = 16
"""At once; a model that wants more has lost count."""
STOP_GRACE_S = 3.0
"""Between TERM and KILL."""


@frozen
class Job:
    """One background program, as it stands."""

    job_id: str
    command: str
    state: JobState = "running"
    exit_code: int | None = None
    output_file: str = ""
    error: str | None = None


class TooManyJobsError(Exception):
    """So many run already; the text says how many."""


class _NoOutlet:
    """Output of a job is shown to nobody while it runs."""

    def offer(self, items: Iterable[object]) -> None:
        """Drop the items."""

    def end(self) -> None:
        """Release nobody."""


class Jobs:
    """The jobs of one process.  Any thread may call it; ``told`` is called once for each end.

    ``told`` runs on the thread that saw the end, and must not wait.
    """

    def __init__(
        self,
        steps: StepService,
        folder: str,
        told: Callable[[Job], None],
        *,
        platform: Platform,
        faults: Faults,
        before: int = 0,
    ) -> None:
        """``folder`` gets the outputs; it is made with the first of them.

        ``before``: how many jobs had their numbers, and their files there, from earlier processes.
        """
        self._steps = steps
        self._folder = folder
        self._told = told
        self._faults = faults
        self._changed = platform.condition()
        self._platform = platform
        self._before = before
        self._jobs: dict[str, Job] = {}
        self._handles: dict[str, StepHandle] = {}

    def start(self, work: ProcessWork, command: str) -> Job:
        """Start a program and return at once.

        Raises:
            TooManyJobsError: `MAX_RUNNING` run already.

        """
        with self._changed:
            running = sum(job.state == "running" for job in self._jobs.values())
            if running >= MAX_RUNNING:
                message = f"{running} jobs run already; stop one first"
                raise TooManyJobsError(message)
            job_id = f"job-{self._before + len(self._jobs) + 1}"
            path = os.path.join(self._folder, f"{job_id}.txt")
            job = self._jobs[job_id] = Job(job_id, command, output_file=path)
        kept = FullOutput(path, self._faults)

        def render(stream: Stream, text: str) -> tuple[()]:
            del stream
            kept.write(text)
            return ()

        handle = self._steps.start(job_id, work, _NoOutlet(), render, self._ended)
        with self._changed:
            if self._jobs[job_id].state == "running":  # it may have ended by now
                self._handles[job_id] = handle
        return job

    def list(self) -> tuple[Job, ...]:
        """Return all jobs, oldest first."""
        with self._changed:
            return tuple(self._jobs.values())

    def get(self, job_id: str) -> Job | None:
        """Return one job as it stands."""
        with self._changed:
            return self._jobs.get(job_id)

    def stop(self, job_id: str) -> Job | None:
        """End a job: TERM, after a grace KILL.  Waits for its end, at most twice the grace."""
        with self._changed:
            handle = self._handles.get(job_id)
        if handle is None:
            return self.get(job_id)
        handle.abort("cancelled")
        if self._wait_for_end(job_id):
            return self.get(job_id)
        handle.kill()
        self._wait_for_end(job_id)
        return self.get(job_id)

    def _wait_for_end(self, job_id: str) -> bool:
        until = self._platform.monotonic() + STOP_GRACE_S
        with self._changed:
            while self._jobs[job_id].state == "running":
                left_s = until - self._platform.monotonic()
                if left_s <= 0:
                    return False
                self._changed.wait(left_s)
            return True

    def _ended(self, end: StepEnd) -> None:
        with self._changed:
            job = self._jobs[end.step_id] = _after(self._jobs[end.step_id], end)
            self._handles.pop(end.step_id, None)
            self._changed.notify_all()
        self._told(job)


def _after(job: Job, end: StepEnd) -> Job:
    match end.kind:
        case "exited":
            return replace(job, state="exited", exit_code=end.exit_code)
        case "cancelled" | "timed_out":
            return replace(job, state="killed")
        case _:
            return replace(job, state="failed", error=end.error)
