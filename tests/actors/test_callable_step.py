"""Functions as steps."""

from __future__ import annotations

import random
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from actors.faults import NoFaults
from actors.real_platform import RealPlatform
from actors.steps import RealSteps
from actors.work import Captured, StepEnd
from tests.actors.stepping import Recorder, StalledSource, Started, call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from actors.faults import Verdict
    from actors.work import WorkContext

WAIT_S = 20.0


@pytest.fixture
def steps() -> Iterator[RealSteps]:
    service = RealSteps(RealPlatform(), NoFaults())
    yield service
    service.close()


def _until_cancelled(context: WorkContext) -> str:
    context.emit("stdout", "ready")
    return "stopped" if context.cancel.wait(WAIT_S) else "slept"


def _fail() -> None:
    message = "a callback's own mistake"
    raise RuntimeError(message)


def test_the_value_of_a_callable_is_its_result(steps: RealSteps) -> None:
    end = Started(steps, call(lambda _: {"answer": 42})).wait_end()

    assert end == StepEnd("s1", "returned", value={"answer": 42})


def test_callables_need_no_guardian(steps: RealSteps) -> None:
    Started(steps, call(lambda _: None)).wait_end()

    assert steps._guardian is None


def test_what_a_callable_says_is_shown_and_captured(steps: RealSteps) -> None:
    def talk(context: WorkContext) -> None:
        context.emit("stdout", "ä\ud800")
        context.emit("stderr", "hm")

    step = Started(steps, call(talk))
    end = step.wait_end()

    assert step.heard.items == [("stdout", "ä?"), ("stderr", "hm")]
    assert (end.stdout.text, end.stdout.total_bytes, end.stderr.text) == ("ä?", 3, "hm")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no port in 'x'"), "no port in 'x'"),
        (ValueError(), "ValueError"),
        (SystemExit(3), "3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_an_exception_is_the_failure_of_its_step(
    steps: RealSteps, error: BaseException, text: str
) -> None:
    def fail(_: WorkContext) -> None:
        raise error

    assert Started(steps, call(fail)).wait_end() == StepEnd("s1", "failed", error=text)


def test_an_abort_wakes_a_callable_that_waits(steps: RealSteps) -> None:
    step = Started(steps, call(_until_cancelled)).wait_text("ready")

    step.handle.abort("timed_out")
    step.handle.abort("cancelled")

    end = step.wait_end()
    assert (end.kind, end.value, end.stdout.text) == ("timed_out", "stopped", "ready")


def test_a_wait_that_nobody_ends_times_out(steps: RealSteps) -> None:
    def sleep(context: WorkContext) -> tuple[bool, bool]:
        before = context.monotonic()
        return context.cancel.wait(0.01), context.monotonic() - before >= 0.01

    assert Started(steps, call(sleep)).wait_end().value == (False, True)


def test_cancel_callbacks_run_once_also_when_added_late(steps: RealSteps) -> None:
    called: list[str] = []

    def work(context: WorkContext) -> None:
        context.cancel.on_cancel(lambda: called.append("early"))
        context.cancel.on_cancel(_fail)
        _until_cancelled(context)
        context.cancel.on_cancel(lambda: called.append("late"))

    step = Started(steps, call(work)).wait_text("ready")
    step.handle.abort("cancelled")
    step.wait_end()

    assert called == ["early", "late"]


def test_a_callable_that_does_not_stop_is_fenced_off(steps: RealSteps) -> None:
    go_on = threading.Event()
    done = threading.Event()

    def stubborn(context: WorkContext) -> str:
        context.emit("stdout", "ready")
        go_on.wait(WAIT_S)
        context.emit("stdout", "too late")
        done.set()
        return "too late"

    step = Started(steps, call(stubborn)).wait_text("ready")
    step.handle.abort("timed_out")
    step.handle.kill()
    end = step.wait_end()
    go_on.set()
    assert done.wait(WAIT_S)

    assert (end.kind, end.value) == ("timed_out", None)
    assert end.error == "test did not stop and is still running"
    assert step.heard.text() == end.stdout.text == "ready"
    assert len(step.heard.ends) == 1


def test_a_kill_releases_a_callable_from_a_client_that_does_not_read(steps: RealSteps) -> None:
    slow = StalledSource()
    step = Started(steps, call(lambda context: context.emit("stdout", "x")), slow)
    assert slow.waiting.wait(WAIT_S)

    step.handle.kill()

    assert step.wait_end().kind == "cancelled"


def test_a_callable_after_close_does_not_run(steps: RealSteps) -> None:
    ran: list[int] = []
    steps.close()

    end = Started(steps, call(lambda _: ran.append(1))).wait_end()

    assert (end, ran) == (StepEnd("s1", "cancelled"), [])


def test_closing_ends_running_callables(steps: RealSteps) -> None:
    step = Started(steps, call(_until_cancelled)).wait_text("ready")

    steps.close()

    assert step.wait_end().kind == "cancelled"


@pytest.mark.parametrize("seed", range(100))
def test_there_is_one_end_whatever_races(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a schedule, not a secret
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    service = RealSteps(RealPlatform(), NoFaults())
    heard = Recorder()
    try:
        step = Started(service, call(lambda context: context.cancel.wait(0.0005)), heard)
        for deed in chance.sample(["abort", "kill", "abort", "close"], 3):
            threading.Event().wait(chance.random() * 0.001)
            if deed == "abort":
                step.handle.abort("cancelled")
            elif deed == "kill":
                step.handle.kill()
            else:
                service.close()
        step.wait_end()
        service.close()
    finally:
        sys.setswitchinterval(interval)

    assert len(heard.ends) == 1


class Broken(NoFaults):
    """A fault plan that fails at one point."""

    def __init__(self, point: str) -> None:
        self._point = point

    def at(self, name: str, who: str = "") -> Verdict:
        del who
        if name == self._point:
            message = "a fault"
            raise RuntimeError(message)
        return "pass"


@pytest.mark.parametrize(
    ("point", "end"),
    [
        ("step.call", StepEnd("s1", "failed", error="a fault")),
        ("step.return", StepEnd("s1", "lost", error="reporting the end failed: a fault")),
    ],
)
def test_a_fault_still_gives_one_end(point: str, end: StepEnd) -> None:
    service = RealSteps(RealPlatform(), Broken(point))

    assert Started(service, call(lambda _: None)).wait_end() == end
    assert Captured() == end.stdout
