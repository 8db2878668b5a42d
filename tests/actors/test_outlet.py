"""The outlet: one turn's words in order, its answer last, and nobody kept waiting."""

from __future__ import annotations

import queue
import threading
from typing import Any

import pytest

from actors.faults import NoFaults
from actors.gate import GateClosed
from actors.outlet import ROOM, Outlet
from tests.fakes import CrashAt, FakePlatform, InjectedError, Running

WAIT_S = 20.0


class Listener:
    """Takes what an outlet delivers, when it is let; hears of its end."""

    def __init__(self, *, open_: bool = True, error: BaseException | None = None) -> None:
        self.items: list[Any] = []
        self.error = error
        self.arrived = threading.Event()
        self.gate = threading.Event()
        if open_:
            self.gate.set()
        self.ends: queue.Queue[BaseException | None] = queue.Queue()

    def outlet(self, faults: Any = None) -> Outlet:
        return Outlet(FakePlatform(), faults or NoFaults(), self.deliver, self.ends.put)

    def deliver(self, items: list[Any]) -> None:
        self.arrived.set()
        assert self.gate.wait(WAIT_S)
        if self.error is not None:
            raise self.error
        self.items += items

    def last_word(self) -> None:
        self.items.append("last word")

    def end(self) -> BaseException | None:
        return self.ends.get(timeout=WAIT_S)


def test_everything_leaves_in_order_and_the_last_word_last() -> None:
    listener = Listener()
    outlet = listener.outlet()
    source = outlet.open_source()

    outlet.say([1, 2])
    source.offer([3])
    outlet.say([4])
    outlet.finish(listener.last_word)

    assert listener.end() is None
    assert listener.items == [1, 2, 3, 4, "last word"]


def test_after_the_finish_nothing_is_said_any_more() -> None:
    listener = Listener()
    outlet = listener.outlet()
    source = outlet.open_source()

    outlet.finish(listener.last_word)
    outlet.finish(lambda: listener.items.append("once more"))
    outlet.say([1])
    source.offer([2])

    assert listener.end() is None
    assert listener.items == ["last word"]
    assert listener.ends.empty()


def test_a_step_waits_for_room_and_is_let_in_when_the_client_reads() -> None:
    listener = Listener(open_=False)
    outlet = listener.outlet()
    source = outlet.open_source()
    outlet.say(["in delivery"])
    assert listener.arrived.wait(WAIT_S)
    for number in range(ROOM):
        source.offer([number])

    waiting = Running(lambda: source.offer(["waits"]))
    outlet.say(["the executor does not wait"])
    assert waiting.is_running()
    listener.gate.set()

    assert waiting.error() is None
    outlet.finish(listener.last_word)
    assert listener.end() is None
    assert listener.items == [
        "in delivery",
        *range(ROOM),
        "the executor does not wait",
        "waits",
        "last word",
    ]


def test_the_end_of_a_source_frees_its_step_while_the_client_still_does_not_read() -> None:
    listener = Listener(open_=False)
    outlet = listener.outlet()
    source = outlet.open_source()
    outlet.say(["in delivery"])
    assert listener.arrived.wait(WAIT_S)
    for number in range(ROOM):
        source.offer([number])
    waiting = Running(lambda: source.offer(["waits"]))

    source.end()

    assert waiting.error() is None
    source.offer(["passes"])
    listener.gate.set()
    outlet.finish(listener.last_word)
    assert listener.end() is None
    assert listener.items[-3:] == ["waits", "passes", "last word"]


def test_the_end_of_one_source_does_not_let_another_pass() -> None:
    listener = Listener(open_=False)
    outlet = listener.outlet()
    one, other = outlet.open_source(), outlet.open_source()
    outlet.say(["in delivery"])
    assert listener.arrived.wait(WAIT_S)
    for number in range(ROOM):
        one.offer([number])
    waiting = Running(lambda: other.offer(["waits"]))

    one.end()

    assert waiting.is_running()
    listener.gate.set()
    assert waiting.error() is None
    outlet.finish(listener.last_word)
    listener.end()


def test_a_closed_gate_lets_the_turn_go_on_to_its_own_end() -> None:
    listener = Listener(error=GateClosed())
    outlet = listener.outlet()
    source = outlet.open_source()
    outlet.say([1])
    assert listener.arrived.wait(WAIT_S)

    for number in range(10 * ROOM):
        source.offer([number])
    outlet.say([2])
    assert listener.ends.empty()
    outlet.finish(listener.last_word)

    assert listener.end() is None
    assert listener.ends.empty()
    assert listener.items == []


def test_a_gate_that_closes_frees_a_waiting_step() -> None:
    listener = Listener(open_=False, error=GateClosed())
    outlet = listener.outlet()
    source = outlet.open_source()
    outlet.say([1])
    assert listener.arrived.wait(WAIT_S)
    for number in range(ROOM):
        source.offer([number])
    waiting = Running(lambda: source.offer(["waits"]))

    listener.gate.set()

    assert waiting.error() is None
    outlet.finish(listener.last_word)
    assert listener.end() is None


@pytest.mark.parametrize("when", ["before the finish", "after the finish"])
def test_what_goes_wrong_on_the_way_out_is_told_at_the_end(when: str) -> None:
    listener = Listener(open_=False, error=ValueError("can't be rendered"))
    outlet = listener.outlet()
    outlet.say([1])
    assert listener.arrived.wait(WAIT_S)
    if when == "after the finish":
        outlet.finish(listener.last_word)
    listener.gate.set()
    if when == "before the finish":
        outlet.open_source().offer(["until it is closed"])
        outlet.finish(listener.last_word)

    assert isinstance(listener.end(), ValueError)
    assert listener.ends.empty()
    assert listener.items == []


def test_a_last_word_that_fails_is_told_as_well() -> None:
    listener = Listener()
    outlet = listener.outlet()

    outlet.finish(lambda: listener.items[7])

    assert isinstance(listener.end(), IndexError)


def test_a_crash_of_the_speaker_is_a_problem_of_the_turn() -> None:
    listener = Listener()
    outlet = listener.outlet(CrashAt("outlet.speak", (1,)))

    outlet.say([1])
    outlet.finish(listener.last_word)

    assert isinstance(listener.end(), InjectedError)


def test_nothing_is_lost_or_doubled_with_many_steps_and_a_talking_executor() -> None:
    listener = Listener()
    outlet = listener.outlet()
    steps = [_offering(outlet, step) for step in range(4)]
    for number in range(200):
        outlet.say([("executor", number)])
    for step in steps:
        assert step.error() is None
    outlet.finish(listener.last_word)

    assert listener.end() is None
    assert listener.items[-1] == "last word"
    for name in ("executor", 0, 1, 2, 3):
        mine = [number for by, number in listener.items[:-1] if by == name]
        assert mine == list(range(200))


def _offering(outlet: Outlet, step: int) -> Running[None]:
    return Running(lambda: _offer_all(outlet, step))


def _offer_all(outlet: Outlet, step: int) -> None:
    source = outlet.open_source()
    for number in range(200):
        source.offer([(step, number)])
    source.end()
