"""Background jobs of a session: they outlive turns, are recorded, and end with the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.models.base import Text
from runtimes.radian import events
from runtimes.radian.records import JobFinished, JobStarted, UserMessage
from runtimes.radian.tools.jobs import Jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.faults import Faults
    from actors.platform import Platform
    from actors.work import StepService
    from runtimes.radian.records import Entry, Record
    from runtimes.radian.tools.jobs import Job, JobState


class SessionJobs:
    """See the module.  Used by one thread at a time, but for the jobs themselves and `recorded`."""

    def __init__(
        self,
        folder: str,
        steps: StepService,
        *,
        platform: Platform,
        faults: Faults,
        before: int = 0,
    ) -> None:
        """``folder`` gets the outputs, ``steps`` are theirs alone; nothing is started yet.

        ``before``: see `Jobs`.
        """
        self._steps = steps
        self.jobs = Jobs(
            self._steps, folder, self._hear, platform=platform, faults=faults, before=before
        )
        self.ended: Callable[[], None] = _nobody
        """Called when a job has ended, on the thread that saw it; must not wait."""
        self._recorded: dict[str, bool] = {}
        """Each job that the journal knows, and whether it knows its end."""
        self._underway: dict[str, bool] = {}
        """The same of what `news` has returned and may be in no journal yet."""
        self._closed = False

    def news(self, turn: int | None = None, *, ends: bool = True) -> tuple[Record, ...]:
        """Return what nobody has been given yet, as records of ``turn``, which are to be written.

        ``ends``: also which jobs have ended, with a message to the model for each.
        """
        records: list[Record] = []
        for job in self.jobs.list():
            if self._knows_end(job) is None:
                self._underway[job.job_id] = False
                records.append(JobStarted(job.job_id, job.command, turn))
            if ends and job.state != "running" and not self._knows_end(job):
                self._underway[job.job_id] = True
                records.append(_finished(job, turn))
                if turn is not None:
                    records.append(UserMessage(turn, (Text(_told(job)),), source="job"))
        return tuple(records)

    def recorded(self, entries: Iterable[Entry]) -> None:
        """Hear what is in the journal now; from any thread."""
        for entry in entries:
            match entry.record:
                case JobStarted(job_id):
                    self._recorded.setdefault(job_id, False)
                case JobFinished(job_id):
                    self._recorded[job_id] = True
                case _:
                    pass

    def take_back(self) -> None:
        """Let what `news` has returned be news again where it was never written.

        For whoever knows that no write is on its way.
        """
        self._underway.clear()

    def has_untold_ends(self) -> bool:
        """Tell whether a job has ended that `news` has not told of."""
        return any(job.state != "running" and not self._knows_end(job) for job in self.jobs.list())

    def close(self) -> tuple[Record, ...]:
        """End all jobs and return what is left to record of them.  Safe to call twice."""
        if self._closed:
            return ()
        self._closed, self.ended = True, _nobody
        self._steps.close()
        self.take_back()
        heard = self.news()
        left = (job for job in self.jobs.list() if not self._knows_end(job))
        return (*heard, *(JobFinished(job.job_id, job.command, killed=True) for job in left))

    def _knows_end(self, job: Job) -> bool | None:
        """Tell whether the end of a job was told; None: not even its start."""
        known = self._underway.get(job.job_id)
        return self._recorded.get(job.job_id) if known is None else known

    def _hear(self, job: Job) -> None:
        del job
        self.ended()


def shown(entries: Iterable[Entry]) -> tuple[events.Job, ...]:
    """Return what people are shown of records."""
    told: list[events.Job] = []
    for entry in entries:
        match entry.record:
            case JobStarted(job_id):
                told.append(events.Job(job_id, "running"))
            case JobFinished(job_id, exit_code=exit_code, killed=killed):
                ended: JobState = "failed" if exit_code is None else "exited"
                told.append(events.Job(job_id, "killed" if killed else ended, exit_code))
            case _:
                pass
    return tuple(told)


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
