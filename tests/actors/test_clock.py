"""Timers on a clock that only moves when the test says so."""

from __future__ import annotations

import queue
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pykka import ActorDeadError

from actors.clock import Timers
from tests.fakes import FakePlatform

WAIT_S = 20.0


class Bell:
    """Stands for a mailbox: keeps what is put."""

    def __init__(self, error: Exception | None = None) -> None:
        self.ticks: queue.Queue[Any] = queue.Queue()
        self._error = error

    def put(self, envelope: Any) -> None:
        if self._error is not None:
            raise self._error
        self.ticks.put(envelope.message)

    def next(self) -> Any:
        return self.ticks.get(timeout=WAIT_S)


class Clockwork:
    """A fake platform, timers on it, and a mailbox."""

    def __init__(self) -> None:
        self.platform = FakePlatform()
        self.timers = Timers(self.platform)
        self.bell = Bell()

    def arm(self, key: str, delay_s: float) -> int:
        return self.timers.arm(self.bell, key, delay_s)  # type: ignore[arg-type]  # only put is used

    def keys_within(self, seconds: float) -> list[str]:
        """Let time pass and return what was due, in order; a last timer says that all is out."""
        self.platform.advance(seconds)
        end = self.arm("end", 0)
        keys = []
        while (tick := self.bell.next()).generation != end:
            keys.append(tick.key)
        return keys


@pytest.fixture
def clock() -> Any:
    clock = Clockwork()
    yield clock
    clock.timers.close()


def test_ticks_come_in_the_order_of_their_times(clock: Clockwork) -> None:
    for key, delay_s in (("late", 9), ("soon", 1), ("middle", 5), ("never", 100)):
        clock.arm(key, delay_s)

    assert clock.keys_within(10) == ["soon", "middle", "late"]


def test_a_thread_that_could_not_be_had_is_asked_for_again(
    clock: Clockwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_name: str, _run: object) -> None:
        message = "can't start new thread"
        raise RuntimeError(message)

    with monkeypatch.context() as patched:
        patched.setattr(clock.platform, "spawn", refuse)
        with pytest.raises(RuntimeError):
            clock.arm("refused", 1)
    clock.arm("again", 1)

    assert clock.keys_within(2) == ["again"]


def test_nothing_ticks_before_its_time(clock: Clockwork) -> None:
    clock.arm("a", 5)

    assert clock.keys_within(4.9) == []
    assert clock.keys_within(0.2) == ["a"]


def test_a_dropped_timer_does_not_tick(clock: Clockwork) -> None:
    dropped = clock.arm("a", 5)
    clock.arm("b", 5)

    clock.timers.drop(dropped)
    clock.timers.drop(dropped)

    assert clock.keys_within(6) == ["b"]


def test_a_time_that_has_passed_is_now(clock: Clockwork) -> None:
    clock.arm("a", -5)

    assert clock.keys_within(0) == ["a"]


def test_an_actor_that_has_ended_does_not_cost_the_others_their_ticks(clock: Clockwork) -> None:
    dead: Any = Bell(ActorDeadError("gone"))
    clock.timers.arm(dead, "dead", 1)
    clock.arm("alive", 2)

    assert clock.keys_within(3) == ["alive"]


def test_no_tick_is_told_after_the_close(clock: Clockwork) -> None:
    clock.arm("a", 1)
    clock.timers.close()
    clock.platform.advance(10)

    assert clock.bell.ticks.empty()


def test_timers_that_are_dropped_again_and_again_leave_nothing_behind(clock: Clockwork) -> None:
    for _ in range(10_000):
        clock.timers.drop(clock.arm("patience", 3600))

    assert len(clock.timers._heap) < 200


@settings(max_examples=50, deadline=None)
@given(delays=st.lists(st.integers(0, 100), max_size=30), dropped=st.sets(st.integers(0, 29)))
def test_every_live_timer_ticks_once_and_in_time(delays: list[int], dropped: set[int]) -> None:
    clock = Clockwork()
    generations = [clock.arm(str(number), delay) for number, delay in enumerate(delays)]
    # Those that are due at once may tick before they are dropped, so they are kept.
    gone = {number for number in dropped if number < len(delays) and delays[number] > 0}
    for number in gone:
        clock.timers.drop(generations[number])

    keys = clock.keys_within(101)
    clock.timers.close()

    assert sorted(keys) == sorted(str(n) for n in range(len(delays)) if n not in gone)
    kept = [delays[int(key)] for key in keys if delays[int(key)] > 0]
    assert kept == sorted(kept)
