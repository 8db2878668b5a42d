"""Starts and ends of background jobs are told once: when they are written, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from actors.faults import NoFaults
from actors.real_platform import RealPlatform
from actors.turn import MachineFailed, StartStep, StepEnded
from actors.work import ProcessWork, StepEnd
from runtimes.models.base import Text
from runtimes.radian.events import Job
from runtimes.radian.journal import open_journal
from runtimes.radian.records import JobFinished, JobStarted, UserMessage
from runtimes.radian.session_errors import JournalError
from runtimes.radian.session_jobs import SessionJobs
from tests.runtimes.radian.by_hand import Book, Hands, Model, desk_of, says
from tests.runtimes.radian.journals import make_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from actors.faults import Verdict
    from runtimes.radian.records import Entry, Record

WORK = ProcessWork(("true",), cwd="/", env={})


class HandSteps:
    """Programs that end when the test says so, or are killed with the rest."""

    def __init__(self) -> None:
        self.running: dict[str, Callable[[StepEnd], None]] = {}
        self.just_before: Callable[[], None] = lambda: None
        """Called before what is left is killed."""

    def start(self, step_id: str, work: Any, source: Any, render: Any, on_end: Any) -> Any:
        del work, source, render
        self.running[step_id] = on_end

    def end(self, step_id: str, code: int = 0) -> None:
        self.running.pop(step_id)(StepEnd(step_id, "exited", exit_code=code))

    def close(self) -> None:
        self.just_before()
        for step_id in tuple(self.running):
            self.running.pop(step_id)(StepEnd(step_id, "cancelled"))


class UnforcedBook(Book):
    """Writes, and can't force to the disk what it wrote."""

    def append(self, records: Sequence[Record], *, sync: bool) -> tuple[Entry, ...]:
        entries = super().append(records, sync=sync)
        message = "can't be forced to the disk"
        raise JournalError(message, entries)


class Scene:
    """A session whose journal may be full, and its jobs."""

    def __init__(self, book: Book | None = None) -> None:
        self.book = book or Book()
        self.steps = HandSteps()
        steps: Any = self.steps
        self.jobs = SessionJobs("/out", steps, platform=RealPlatform(), faults=NoFaults())
        self.model = Model(lambda _: says("ok"))
        self.desk = desk_of(self.model)
        written: Any = self.book
        self.desk.journal, self.desk.jobs = written, self.jobs

    def start(self) -> None:
        """Start a job."""
        self.jobs.jobs.start(WORK, "make")

    def told(self) -> list[str]:
        """Return which records of jobs are in the journal."""
        return [
            f"{type(each).__name__} {each.job_id}"
            for each in self.book.records
            if isinstance(each, JobStarted | JobFinished)
        ]

    def messages(self) -> list[str]:
        """Return what the model was last told of jobs."""
        parts = [part for each in self.model.requests[-1].messages for part in each.parts]
        return [each.text for each in parts if isinstance(each, Text) and "Background" in each.text]


ENDED = "(Background job job-1, 'make', ended with exit code 3. Output: /out/job-1.txt)"


def test_what_a_full_disk_could_not_take_is_told_by_the_next_turn_once() -> None:
    scene = Scene()
    scene.start()
    scene.steps.end("job-1", 3)
    scene.book.full = True
    first = Hands(scene.desk)
    assert first.run().journaled is False
    assert scene.jobs.has_untold_ends()
    assert [each for each in first.said if isinstance(each, Job)] == []

    scene.book.full = False
    second = Hands(scene.desk, turn=2)
    second.run()
    Hands(scene.desk, turn=3).run()

    assert scene.told() == ["JobStarted job-1", "JobFinished job-1"]
    assert scene.messages() == [ENDED]
    jobs = [each for each in second.said if isinstance(each, Job)]
    assert jobs == [Job("job-1", "running"), Job("job-1", "exited", 3)]
    assert not scene.jobs.has_untold_ends()


def test_a_turn_that_is_over_without_its_machine_has_told_nothing_that_is_not_written() -> None:
    scene = Scene()
    scene.start()
    scene.steps.end("job-1", 3)
    Hands(scene.desk)  # its first write never ends

    Hands(scene.desk, turn=2).run()

    assert scene.told() == ["JobStarted job-1", "JobFinished job-1"]


def test_what_was_written_is_told_also_if_the_end_of_its_write_is_lost() -> None:
    scene = Scene()
    scene.start()
    scene.steps.end("job-1", 3)
    hands = Hands(scene.desk)
    ((name, write),) = hands.running.items()
    assert isinstance(write, StartStep)
    work: Any = write.work
    work.run(None)
    hands.running.clear()

    hands.feed(StepEnded(StepEnd(name, "lost", error="a fault")))
    hands.run()
    Hands(scene.desk, turn=2).run()

    assert scene.told() == ["JobStarted job-1", "JobFinished job-1"]
    assert scene.messages() == [ENDED]


def test_what_could_not_be_forced_to_the_disk_is_told_all_the_same() -> None:
    scene = Scene(UnforcedBook())
    scene.start()
    scene.steps.end("job-1", 3)
    assert Hands(scene.desk).run().journaled is False

    book: Any = Book(scene.book.records)
    scene.desk.journal = book
    Hands(scene.desk, turn=2).run()

    assert scene.told() == ["JobStarted job-1", "JobFinished job-1"]
    assert scene.messages() == [ENDED]


def test_a_fault_in_mid_turn_tells_of_a_job_once() -> None:
    scene = Scene()
    hands = Hands(scene.desk)
    scene.start()
    hands.feed(MachineFailed())
    hands.run()

    Hands(scene.desk, turn=2).run()

    assert scene.told() == ["JobStarted job-1"]


def test_the_end_of_the_process_tells_what_is_left_as_it_was() -> None:
    scene = Scene()
    scene.start()
    scene.start()
    scene.steps.end("job-1", 3)
    scene.book.full = True
    assert Hands(scene.desk).run().journaled is False

    left = scene.jobs.close()

    assert left == (
        JobStarted("job-1", "make"),
        JobFinished("job-1", "make", 3),
        JobStarted("job-2", "make"),
        JobFinished("job-2", "make", killed=True),
    )
    assert scene.jobs.close() == ()


def test_a_job_that_ends_by_itself_at_the_end_is_not_told_as_killed() -> None:
    scene = Scene()
    scene.start()
    Hands(scene.desk).run()
    scene.steps.just_before = lambda: scene.steps.end("job-1", 0)

    assert scene.jobs.close() == (JobFinished("job-1", "make", 0),)


class Unforced(NoFaults):
    """The disk takes what is written, and no more."""

    def at(self, name: str, who: str = "") -> Verdict:
        if name == "journal.sync":
            raise OSError(5, "Input/output error")
        return super().at(name, who)


def test_a_journal_says_what_it_holds_though_it_may_not_last(tmp_path: Path) -> None:
    path = make_session(tmp_path)
    journal, _ = open_journal(str(path), "s1", faults=Unforced())

    with pytest.raises(JournalError, match="forced to the disk") as caught:
        journal.append([UserMessage(1, (Text("a"),))], sync=True)

    assert [each.record for each in caught.value.written] == [UserMessage(1, (Text("a"),))]
    journal.close()
