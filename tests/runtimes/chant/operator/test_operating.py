"""Operators on real threads and a clock of the test: supervision, cancels, many runs."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

import pytest

from actors.work import CallableWork
from ops.cron import parse_cron
from ops.errors import LedgerError
from ops.waits import Wait
from runtimes.chant.operator.operating import Note, Operated, Operator, Orders
from tests.fakes import CrashAt, FakeHandle, FakePlatform, FakeSteps, Running
from tests.runtimes.chant.hosts import Context, FakeTasks, two_phases

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.faults import Faults
    from actors.work import OutputSource, Render, StepEnd, Work
    from runtimes.chant.run_tasks import RunTasks

MINUTE = 60.0


class Lines:
    """What the operator tells, and a way to wait for it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.all: list[str] = []

    def tell(self, text: str) -> None:
        with self._changed:
            self.all.append(text)
            self._changed.notify_all()

    def wait_for(self, part: str, times: int = 1) -> None:
        def enough() -> bool:
            return sum(part in each for each in self.all) >= times

        with self._changed:
            assert self._changed.wait_for(enough, 20), f"{part!r} not told: {self.all}"


class Stage:
    """An operator of one Op, ``release``, whose steps end by themselves."""

    def __init__(
        self,
        *,
        faults: Faults | None = None,
        judge: Callable[[str], Wait] | None = None,
        steps: FakeSteps | None = None,
        once: bool = False,
    ) -> None:
        self.platform = FakePlatform()
        self.lines = Lines()
        self.notes: queue.SimpleQueue[Note] = queue.SimpleQueue()
        self.tasks: list[FakeTasks] = []
        orders = Orders(
            {"release": [parse_cron("*/15 * * * *")]},
            once,
            self._make_tasks,
            judge or (lambda _: Wait("free")),
            self.lines.tell,
        )
        self.steps = steps or QuickSteps()
        self.operator = Operator(orders, self.platform, self.notes, faults, self.steps)
        self._running = Running(self.operator.run)
        self.lines.wait_for("operating release")

    def _make_tasks(self, op: str) -> RunTasks:
        assert op == "release"
        self.tasks.append(FakeTasks(two_phases()))
        return self.tasks[-1]

    def quarter(self) -> None:
        """Let a quarter of an hour pass."""
        self.platform.advance(15 * MINUTE)

    def end(self, number: int = 15) -> Operated:
        self.notes.put(Note("signal", number))
        return self._running.result(30)

    def result(self) -> Operated:
        return self._running.result(30)


class QuickSteps(FakeSteps):
    """Our own steps are performed, those of an Op end well at once."""

    def start(
        self,
        step_id: str,
        work: Work,
        source: OutputSource,
        render: Render,
        on_end: Callable[[StepEnd], None],
    ) -> FakeHandle:
        handle = super().start(step_id, work, source, render, on_end)
        if self.holds(step_id):
            return handle
        value = None
        if step_id.startswith("(") and isinstance(work, CallableWork):
            value = work.run(Context())
        handle.end(value=value)
        return handle

    def holds(self, step_id: str) -> bool:
        """Tell whether a step goes on until it is aborted."""
        del step_id
        return False


def test_it_runs_what_is_due_and_ends_when_asked_to() -> None:
    stage = Stage()

    for times in range(1, 4):
        stage.quarter()
        stage.lines.wait_for("release ended ok", times)
    operated = stage.end()

    assert operated.last["release"].status == "ok"
    assert operated.signal == 15
    assert not operated.broken
    assert [len(each.records) for each in stage.tasks] == [1, 1, 1]


def test_once_runs_and_ends_by_itself() -> None:
    operated = Stage(once=True).result()

    assert operated.last["release"].status == "ok"
    assert operated.signal is None


@pytest.mark.parametrize("point", ["actor.receive", "actor.handled", "operator.judge"])
@pytest.mark.parametrize("hit", [1, 2, 3])
def test_a_crash_of_the_operator_costs_no_run(point: str, hit: int) -> None:
    actor = None if point == "operator.judge" else "operator"
    crashes = CrashAt(point, {hit}, actor=actor)
    stage = Stage(faults=crashes)

    for times in range(1, 5):
        stage.quarter()
        stage.lines.wait_for("release ended ok", times)
    operated = stage.end()

    assert crashes.fired == 1
    assert not operated.broken
    assert [len(each.records) for each in stage.tasks] == [1, 1, 1, 1]


def test_what_crashes_each_time_is_given_up_and_the_operator_goes_on() -> None:
    stage = Stage(faults=CrashAt("operator.judge", (1, 2, 3)))

    stage.quarter()
    stage.lines.wait_for("the operator crashed each time it tried")
    stage.quarter()
    stage.lines.wait_for("release ended ok")

    assert not stage.end().broken


def test_an_operator_that_can_do_nothing_any_more_ends_and_says_so() -> None:
    stage = Stage(faults=CrashAt("actor.receive", range(1, 1000), actor="operator"))

    stage.quarter()

    assert stage.result().broken


def test_a_look_that_fails_is_told_and_the_next_one_counts() -> None:
    looks = [LedgerError("disk full"), RuntimeError("bug"), None]

    def judge(op: str) -> Wait:
        del op
        error = looks.pop(0)
        if error is not None:
            raise error
        return Wait("free")

    stage = Stage(judge=judge)
    stage.quarter()
    stage.lines.wait_for("disk full")
    stage.quarter()
    stage.lines.wait_for("a fault of chant")
    stage.quarter()
    stage.lines.wait_for("release ended ok")

    assert not stage.end().broken


def test_an_end_cancels_the_run_which_cleans_up_first() -> None:
    steps = SlowSteps()
    stage = Stage(steps=steps)
    stage.quarter()
    assert steps.began.wait(20)

    operated = stage.end()

    assert operated.last["release"].status == "cancelled"
    assert stage.tasks[0].records[0]["status"] == "cancelled"
    assert stage.tasks[0].records[0]["compensation"] == "ok"


class SlowSteps(QuickSteps):
    """The step ``pack`` ends only when it is aborted."""

    def __init__(self) -> None:
        super().__init__()
        self.began = threading.Event()

    def holds(self, step_id: str) -> bool:
        if step_id == "pack":
            self.began.set()
        return step_id == "pack"


def test_many_runs_leave_no_threads_and_no_turns_behind() -> None:
    stage = Stage()
    counts: list[int] = []
    for times in range(1, 61):
        stage.quarter()
        stage.lines.wait_for("release ended ok", times)
        counts.append(threading.active_count())
    stage.end()

    # The least, as those of a run that just ended may still be on their way out.
    assert min(counts[30:]) <= min(counts[:30]) + 2
