"""The scheduler, its clock and its conditions, without a server."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from actors.simulation.backend import make_backend
from actors.simulation.platform import SimPlatform
from actors.simulation.policies import make_policy
from actors.simulation.scheduler import Limits, Scheduler
from actors.simulation.seeds import stream
from actors.simulation.trace import Trace
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.simulation.backend import BackendName
    from actors.simulation.policies import PolicyName

BACKENDS: tuple[BackendName, ...] = ("threads", "greenlet")


def play(
    main: Callable[[SimPlatform], None],
    seed: str = "1",
    *,
    backend: BackendName = "threads",
    policy: PolicyName | None = None,
    limits: Limits | None = None,
) -> Scheduler:
    with closing(make_backend(backend)) as carrier:
        scheduler = Scheduler(carrier, make_policy(policy, stream(seed, "policy")), Trace(), limits)
        carrier.begin(scheduler.body)
        platform = SimPlatform(scheduler, stream(seed, "entropy"))
        scheduler.run(lambda: main(platform))
    return scheduler


def producers_and_consumers(platform: SimPlatform) -> None:
    changed, items = platform.condition(), list[int]()

    def produce() -> None:
        for number in range(10):
            with changed:
                items.append(number)
                changed.notify()

    def consume() -> None:
        for _ in range(10):
            with changed:
                while not items:
                    changed.wait()
                items.pop()

    tasks = [platform.spawn(f"p{n}", produce) for n in range(3)]
    tasks += [platform.spawn(f"c{n}", consume) for n in range(3)]
    for task in tasks:
        task.join()


@pytest.mark.parametrize("policy", ["random", "pct"])
def test_a_seed_gives_the_same_trace_on_every_backend(policy: PolicyName) -> None:
    runs = [
        play(producers_and_consumers, backend=name, policy=policy)
        for name in (*BACKENDS, "threads")
    ]

    assert len({run.trace.hash for run in runs}) == 1
    assert not any(run.hang or run.raised for run in runs)


def test_seeds_give_different_schedules() -> None:
    hashes = {play(producers_and_consumers, str(seed)).trace.hash for seed in range(20)}

    assert len(hashes) > 15


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_deadlock_says_who_waits_where(backend: BackendName) -> None:
    def main(platform: SimPlatform) -> None:
        first, second = platform.condition(), platform.condition()

        def wait_for_nobody() -> None:
            with first:
                first.wait()

        def wait_for_a_lock() -> None:
            with second:
                pass

        platform.spawn("forgotten", wait_for_nobody)
        with second:
            task = platform.spawn("locked out", wait_for_a_lock)
            task.join()

    hang = play(main, backend=backend).hang

    assert hang.startswith("deadlock: main in ")
    assert "forgotten in " in hang
    assert "wait_for_nobody (tests/simulation/test_scheduler.py:" in hang
    assert "locked out in " in hang


WHILE_COLLECTING = """
import gc, threading
from tests.simulation.test_scheduler import where_hundreds_wait

class Knot:
    def __init__(self):
        self.me, self.own = self, threading.local()

gc.set_threshold(50)  # the knots are undone while it is told who waits where
where_hundreds_wait(Knot)
"""


def where_hundreds_wait(alongside: Callable[[], object]) -> None:
    """Let 200 tasks wait for nobody, and a world that passes time ask 50 times who waits where."""

    def main(platform: SimPlatform) -> None:
        forgotten = platform.condition()

        def wait_for_nobody() -> None:
            alongside()
            with forgotten:
                forgotten.wait()

        for number in range(200):
            platform.spawn(f"t{number}", wait_for_nobody).join(0.001)

    for _ in range(50):
        assert "t199 in " in play(main).hang


def test_it_is_told_who_waits_where_while_garbage_is_collected() -> None:
    """In a process of its own: one that asks the interpreter for all frames may hang for ever."""
    words = (sys.executable, "-c", WHILE_COLLECTING)
    asked = subprocess.run(words, cwd=ROOT, check=False, timeout=60)

    assert asked.returncode == 0


def test_a_closed_backend_leaves_no_thread() -> None:
    before = threading.enumerate()

    play(producers_and_consumers)

    left = [thread for thread in threading.enumerate() if thread not in before]
    for thread in left:
        thread.join(10)
    assert not [thread for thread in left if thread.is_alive()]


def test_time_jumps_only_when_nobody_can_run() -> None:
    seen: list[float] = []

    def main(platform: SimPlatform) -> None:
        busy, changed = [True], platform.condition()

        def work() -> None:
            for _ in range(200):
                with changed:
                    pass
            seen.append(platform.monotonic())
            busy.clear()

        platform.spawn("work", work)
        platform.sleep(5.0)
        seen.append(platform.monotonic())

    play(main)

    assert seen == [0.0, 5.0]


def test_a_wait_tells_a_wake_from_the_end_of_its_time() -> None:
    woken: list[bool] = []

    def main(platform: SimPlatform) -> None:
        changed = platform.condition()

        def notify_late() -> None:
            platform.sleep(3.0)
            with changed:
                changed.notify_all()

        platform.spawn("late", notify_late)
        with changed:
            woken.append(changed.wait(1.0))
            woken.append(changed.wait(10.0))

    play(main)

    assert woken == [False, True]


def test_what_a_task_lets_escape_is_kept() -> None:
    def main(platform: SimPlatform) -> None:
        def go_wrong() -> None:
            raise ValueError

        platform.spawn("wrong", go_wrong)

    ((task, error),) = play(main).raised

    assert task.name == "wrong"
    assert isinstance(error, ValueError)


def test_a_world_that_never_ends_is_ended() -> None:
    def main(platform: SimPlatform) -> None:
        changed = platform.condition()
        while True:
            with changed:
                pass

    hang = play(main, limits=Limits(points=500)).hang

    assert hang.startswith("no end after 500 scheduling points: main in ")


def test_a_world_in_which_only_time_passes_is_ended() -> None:
    def main(platform: SimPlatform) -> None:
        while True:
            platform.sleep(30.0)

    assert play(main, limits=Limits(seconds=100.0)).hang.startswith("no progress for 100 s: ")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_killed_process_is_unwound_with_all_its_tasks(backend: BackendName) -> None:
    cleaned: list[str] = []
    after: list[bool] = []

    def main(platform: SimPlatform) -> None:
        changed = platform.condition()

        def sit(name: str) -> None:
            try:
                with changed:
                    changed.wait()
            finally:
                cleaned.append(name)

        def process() -> None:
            platform.spawn("child", lambda: sit("child"))
            sit("parent")

        killed = platform.scheduler.spawn_process("process", process)
        platform.sleep(1.0)
        platform.scheduler.kill(killed)
        with changed:  # nobody holds its lock any more
            after.append(killed.is_alive())

    scheduler = play(main, backend=backend)

    assert sorted(cleaned) == ["child", "parent"]
    assert after == [False]
    assert not scheduler.hang
