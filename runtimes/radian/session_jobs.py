"""Background jobs of a session: they outlive turns, are recorded, and end with the process."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from protocol.values import slotted
from runtimes.models.base import Text
from runtimes.radian import events
from runtimes.radian.records import JobFinished, JobStarted, UserMessage
from runtimes.radian.tools.jobs import Jobs

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.faults import Faults
    from actors.platform import Platform
    from actors.work import StepService
    from runtimes.radian.records import Record
    from runtimes.radian.tools.jobs import Job


@slotted
class News:
    """What has happened since somebody asked last."""

    records: list[Record] = field(default_factory=list["Record"])
    events: list[events.Job] = field(default_factory=list[events.Job])


class SessionJobs:
    """See the module.  Used by one thread at a time, but for the jobs themselves."""

    def __init__(
        self, folder: str, steps: StepService, *, platform: Platform, faults: Faults
    ) -> None:
        """``folder`` gets the outputs, ``steps`` are theirs alone; nothing is started yet."""
        self._steps = steps
        self.jobs = Jobs(self._steps, folder, self._hear, platform=platform, faults=faults)
        self.ended: Callable[[], None] = _nobody
        """Called when a job has ended, on the thread that saw it; must not wait."""
        self._known: dict[str, str] = {}
        """The last state of each job that was recorded."""

    def news(self, turn: int | None = None, *, ends: bool = True) -> News:
        """Return what is new, for the records of ``turn``.

        ``ends``: also which jobs have ended, with a message to the model for each.
        """
        news = News()
        for job in self.jobs.list():
            known = self._known.get(job.job_id)
            if known is None:
                self._known[job.job_id] = "running"
                news.records.append(JobStarted(job.job_id, job.command, turn))
                news.events.append(events.Job(job.job_id, "running"))
            if ends and job.state != "running" and self._known[job.job_id] == "running":
                self._known[job.job_id] = job.state
                news.records.append(_finished(job, turn))
                news.events.append(events.Job(job.job_id, job.state, job.exit_code))
                if turn is not None:
                    told = UserMessage(turn, (Text(_told(job)),), source="job")
                    news.records.append(told)
        return news

    def has_untold_ends(self) -> bool:
        """Tell whether a job has ended that `news` has not told of."""
        return any(
            job.state != "running" and self._known.get(job.job_id, "running") == "running"
            for job in self.jobs.list()
        )

    def _hear(self, job: Job) -> None:
        del job
        self.ended()

    def close(self) -> tuple[Record, ...]:
        """End all jobs and return what is left to record of them.  Safe to call twice."""
        records = self.news().records
        for job in self.jobs.list():
            if self._known[job.job_id] == "running":
                self._known[job.job_id] = "killed"
                records.append(JobFinished(job.job_id, job.command, killed=True))
        self._steps.close()
        return tuple(records)


def _finished(job: Job, turn: int | None) -> JobFinished:
    killed = job.state == "killed"
    return JobFinished(job.job_id, job.command, job.exit_code, killed, turn)


def _told(job: Job) -> str:
    how = {
        "exited": f"ended with exit code {job.exit_code}",
        "killed": "was stopped",
    }.get(job.state, f"failed: {job.error}")
    return f"(Background job {job.job_id}, {job.command!r}, {how}. Output: {job.output_file})"


def _nobody() -> None:
    """Wake nobody: ends are told with the next turn."""
