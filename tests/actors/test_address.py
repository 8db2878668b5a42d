"""Addresses: what is told reaches some incarnation, in order, or becomes a dead letter."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.messages import Stop
from tests.actors.stage import Do, Latch, Player, Stage, boom, flush

if TYPE_CHECKING:
    from pykka import ActorRef

    from actors.address import Address


def _play(stage: Stage, address: Address[Any], log: list[Any], **hooks: Any) -> ActorRef[Any]:
    return stage.start(lambda: Player(stage.system, address, log, **hooks))


def test_what_is_told_before_the_first_incarnation_is_replayed_in_order(stage: Stage) -> None:
    address = stage.address("player")
    log: list[Any] = []
    for number in range(5):
        address.tell(number)

    ref = _play(stage, address, log)
    address.bind(ref)

    flush(ref)
    assert log == [0, 1, 2, 3, 4]


def test_what_waited_behind_a_crash_comes_before_what_was_told_after_it(stage: Stage) -> None:
    address, latch = stage.address("player"), Latch()
    log: list[Any] = []
    ref = _play(stage, address, log)
    address.bind(ref)
    ref.tell(Do(latch))
    latch.wait_reached()
    ref.tell(Do(boom))
    for number in range(3):
        address.tell(number)
    latch.release()
    stage.end()
    address.tell("told to the dead")

    again = _play(stage, address, log)
    address.bind(again)
    address.tell("told to the living")

    flush(again)
    assert log == [0, 1, 2, "told to the dead", "told to the living"]


def test_what_an_actor_tells_while_it_dies_stays_behind_its_mailbox(stage: Stage) -> None:
    """The flag is set before the mailbox closes; what comes in between must not overtake."""
    address, latch = stage.address("player"), Latch()
    log: list[Any] = []

    class Dying(Player):
        def last_words(self, message: Any) -> None:
            del message
            latch()

    ref = stage.start(lambda: Dying(stage.system, address, log))
    address.bind(ref)
    ref.tell(Do(_talk_and_crash))
    latch.wait_reached()
    address.tell(3)
    latch.release()
    stage.end()

    again = _play(stage, address, log)
    address.bind(again)

    flush(again)
    assert log == [1, 2, 3]


def _talk_and_crash(player: Player) -> None:
    player.actor_ref.tell(1)
    player.actor_ref.tell(2)
    boom()


def test_an_incarnation_that_dies_at_once_leaves_everything_to_the_next(stage: Stage) -> None:
    address = stage.address("player")
    log: list[Any] = []
    for number in range(3):
        address.tell(number)
    for _ in range(3):
        ref = _play(stage, address, log, at_start=boom)
        stage.end()
        address.bind(ref)
        address.tell("more")

    ref = _play(stage, address, log)
    address.bind(ref)

    flush(ref)
    assert log == [0, 1, 2, "more", "more", "more"]


def test_a_retired_address_makes_dead_letters_and_raises_nothing(stage: Stage) -> None:
    address = stage.address("player")
    log: list[Any] = []
    address.tell("held")
    address.retire()
    address.tell("late")
    ref = _play(stage, address, log)
    address.bind(ref)
    ref.tell(Stop())
    stage.end()
    address.retire()
    address.tell("later")
    address.give_back(["left"])

    assert log == []
    assert stage.telemetry.count("dead_letter", "player") == 4


def test_an_old_incarnation_that_ends_late_hands_on_to_the_new_one(stage: Stage) -> None:
    address, latch = stage.address("player"), Latch()
    log: list[Any] = []
    old = _play(stage, address, log)
    address.bind(old)
    old.tell(Do(latch))
    latch.wait_reached()
    old.tell("left over")
    old.tell(Stop())
    new = _play(stage, address, log)
    address.bind(new)

    latch.release()
    stage.end()

    flush(new)
    assert log == ["left over"]


@settings(max_examples=30, deadline=None)
@given(senders=st.integers(1, 3), crashes=st.integers(0, 3), count=st.integers(1, 60))
def test_each_senders_messages_arrive_once_and_in_order_whatever_crashes(
    senders: int, crashes: int, count: int
) -> None:
    stage = Stage()
    address = stage.address("player")
    log: list[Any] = []
    ref = _play(stage, address, log)
    address.bind(ref)
    threads = [
        threading.Thread(target=_send, args=(address, sender, count)) for sender in range(senders)
    ]
    for thread in threads:
        thread.start()
    for _ in range(crashes):
        ref.tell(Do(boom))
        stage.end()
        ref = _play(stage, address, log)
        address.bind(ref)
    for thread in threads:
        thread.join()

    flush(ref)
    stage.close()
    for sender in range(senders):
        assert [number for by, number in log if by == sender] == list(range(count))


def _send(address: Address[Any], sender: int, count: int) -> None:
    for number in range(count):
        address.tell((sender, number))
