"""The mailbox alone, and the race that it is there for."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import pykka
import pytest
from pykka import ActorDeadError

from actors.mailbox import HIGH_WATER, Mailbox
from actors.messages import Stop
from actors.session_state import CancelTurn
from tests.actors.stage import WAIT_S, Do, Latch, Player, Stage
from tests.fakes import FakePlatform, Running

if TYPE_CHECKING:
    from collections.abc import Iterator


class Told(NamedTuple):
    message: Any
    reply_to: Any = None


class Box:
    """A mailbox and what it handed out."""

    def __init__(self) -> None:
        self.left: list[Any] = []
        self.high: list[int] = []
        self.mailbox = Mailbox(FakePlatform(), self.left.extend, self.high.append)


@pytest.fixture
def box() -> Box:
    return Box()


@pytest.fixture(params=[None, 1e-5])
def _switching(request: pytest.FixtureRequest) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param or before)
    yield
    sys.setswitchinterval(before)


def test_control_messages_come_before_data_and_both_lanes_keep_their_order(box: Box) -> None:
    first, second = Stop(), Stop()
    for message in ("a", first, "b", second):
        box.mailbox.put(Told(message))

    taken = [box.mailbox.get().message for _ in range(4)]

    assert taken == [first, second, "a", "b"]
    assert taken[0] is first
    assert box.mailbox.empty()


def test_close_hands_out_what_was_told_and_fails_what_was_asked(box: Box) -> None:
    future: pykka.ThreadingFuture[Any] = pykka.ThreadingFuture()
    box.mailbox.put(Told("a"))
    box.mailbox.put(Told("asked", future))
    box.mailbox.put(Told("b"))

    box.mailbox.close()
    box.mailbox.close()

    assert box.left == ["a", "b"]
    with pytest.raises(ActorDeadError):
        future.get(timeout=0)


def test_a_closed_mailbox_refuses_tells_to_their_sender_and_asks_in_their_future(box: Box) -> None:
    future: pykka.ThreadingFuture[Any] = pykka.ThreadingFuture()
    box.mailbox.close()

    with pytest.raises(ActorDeadError):
        box.mailbox.put(Told("late"))
    box.mailbox.put(Told("asked", future))

    with pytest.raises(ActorDeadError):
        future.get(timeout=0)
    assert box.left == []


def test_the_high_water_mark_warns_once(box: Box) -> None:
    for number in range(HIGH_WATER + 10):
        box.mailbox.put(Told(number))

    assert box.high == [HIGH_WATER]


def test_only_control_messages_interrupt_a_wait_outside(box: Box) -> None:
    rings: list[str] = []
    box.mailbox.interrupt = lambda: rings.append("ring")

    box.mailbox.put(Told("data"))
    box.mailbox.put(Told(Stop()))

    assert rings == ["ring"]


def test_whoever_waits_for_a_message_gets_it(box: Box) -> None:
    taker = Running(box.mailbox.get)

    box.mailbox.put(Told("a"))

    assert taker.result().message == "a"


@pytest.mark.usefixtures("_switching")
def test_no_reply_is_lost_in_four_thousand_stop_races(stage: Stage) -> None:
    # Twice: at the usual switch interval, and at one that makes the race 15 times likelier.
    lost = [race for race in range(4_000) if not _answered(stage)]

    assert lost == []


def _answered(stage: Stage) -> bool:
    """Ask while the actor stops: any answer will do, a dead actor's too, but there must be one."""
    ref = stage.start(lambda: Player(stage.system, stage.address("player")))
    stopper = threading.Thread(target=lambda: ref.tell(Stop()))
    stopper.start()
    futures = [ref.ask("question", block=False) for _ in range(3)]
    stopper.join()
    stage.end()
    stage.forget(ref)
    return all(_is_settled(future) for future in futures)


def _is_settled(future: pykka.Future[Any]) -> bool:
    try:
        future.get(timeout=5)
    except ActorDeadError:
        return True
    except pykka.Timeout:
        return False
    return True


def test_a_cancel_is_handled_before_ten_thousand_messages_that_were_queued_first(
    stage: Stage,
) -> None:
    latch = Latch()
    log: list[Any] = []
    ref = stage.start(lambda: Player(stage.system, stage.address("player"), log))
    ref.tell(Do(latch))
    latch.wait_reached()
    for number in range(10_000):
        ref.tell(number)
    cancel = CancelTurn("t1", "client")
    ref.tell(cancel)

    latch.release()

    assert ref.ask("last", timeout=WAIT_S) == "last"
    assert log == [cancel, *range(10_000), "last"]
