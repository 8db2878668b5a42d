"""The actor base: every end is one actor's own, is told once, and nothing hangs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pykka
import pytest

from actors.base import ActorCrashed
from actors.messages import Stop, Tick
from tests.actors.stage import WAIT_S, Do, Latch, Player, Stage, boom, flush
from tests.fakes import CrashAt, InjectedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pykka import ActorRef


def _play(stage: Stage, name: str = "player", **hooks: Any) -> ActorRef[Any]:
    return stage.start(lambda: Player(stage.system, stage.address(name), **hooks))


def _leave(_: Any = None) -> None:
    raise SystemExit(3)


def _interrupt(_: Any = None) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("exit_by", [_leave, _interrupt])
def test_an_exit_in_a_handler_ends_that_actor_only(
    stage: Stage, exit_by: Callable[[Any], None]
) -> None:
    other, ref = _play(stage, "other"), _play(stage)

    ref.tell(Do(exit_by))

    assert isinstance(stage.end(), ActorCrashed)
    assert other.ask("there?", timeout=WAIT_S) == "there?"


def test_who_asked_an_actor_that_exits_gets_an_error_and_the_actor_is_gone(stage: Stage) -> None:
    other, ref = _play(stage, "other"), _play(stage)

    with pytest.raises(ActorCrashed, match="SystemExit"):
        ref.ask(Do(_leave), timeout=WAIT_S)

    assert isinstance(stage.end(), ActorCrashed)
    assert not ref.is_alive()
    assert other.is_alive()


def test_an_exception_ends_an_actor_that_was_asked_as_it_ends_one_that_was_told(
    stage: Stage,
) -> None:
    ref = _play(stage)

    with pytest.raises(ValueError, match="boom"):
        ref.ask(Do(boom), timeout=WAIT_S)

    assert isinstance(stage.end(), ValueError)


@pytest.mark.parametrize("hook", [boom, _leave])
def test_a_failing_start_is_heard_exactly_once(stage: Stage, hook: Callable[[Any], None]) -> None:
    ref = _play(stage, at_start=hook)

    assert stage.end() is not None
    with pytest.raises(pykka.ActorDeadError):
        ref.ask("there?", timeout=WAIT_S)
    assert stage.ends.empty()
    assert stage.telemetry.count("crashed", "player") == 1
    assert stage.telemetry.count("started", "player") == 0


@pytest.mark.parametrize("hook", [boom, _leave])
def test_a_failing_clean_up_is_a_crash_and_leaves_the_others_alone(
    stage: Stage, hook: Callable[[Any], None]
) -> None:
    other, ref = _play(stage, "other"), _play(stage, at_stop=hook)

    ref.tell(Stop())

    assert stage.end() is not None
    assert other.ask("there?", timeout=WAIT_S) == "there?"


def test_an_orderly_stop_is_heard_once_and_without_a_reason(stage: Stage) -> None:
    cleaned: list[str] = []
    ref = _play(stage, at_stop=lambda _: cleaned.append("up"))

    ref.tell(Stop())

    assert stage.end() is None
    assert cleaned == ["up"]
    assert stage.ends.empty()


def test_a_stop_overtakes_what_is_queued_and_leaves_it_for_the_next_incarnation(
    stage: Stage,
) -> None:
    address, latch = stage.address("player"), Latch()
    log: list[Any] = []
    ref = stage.start(lambda: Player(stage.system, address, log))
    address.bind(ref)
    ref.tell(Do(latch))
    latch.wait_reached()
    ref.tell("queued")
    ref.tell(Stop())
    ref.tell(Stop())

    latch.release()
    stage.end()

    assert log == []
    again = stage.start(lambda: Player(stage.system, address, log))
    address.bind(again)
    flush(again)
    assert log == ["queued"]  # and not the second Stop


@pytest.mark.parametrize("when", ["start", "handler"])
@pytest.mark.parametrize(
    "deed",
    [
        lambda player: player.actor_ref.stop(block=True),
        lambda player: player.actor_ref.ask("me"),
        lambda player: player.actor_ref.ask("me", block=False).get(),
    ],
    ids=["stop", "ask", "future"],
)
def test_an_actor_that_waits_for_itself_fails_at_once(
    stage: Stage, when: str, deed: Callable[[Player], Any]
) -> None:
    if when == "start":
        _play(stage, at_start=deed)
    else:
        _play(stage).tell(Do(deed))

    assert isinstance(stage.end(), RuntimeError)


@pytest.mark.parametrize("when", ["start", "handler"])
def test_an_actor_may_stop_itself(stage: Stage, when: str) -> None:
    def leave(player: Player) -> None:
        player.stop()

    if when == "start":
        _play(stage, at_start=leave)
    else:
        _play(stage).tell(Do(leave))

    assert stage.end() is None


def test_late_ticks_are_dropped(stage: Stage) -> None:
    ref = _play(stage)

    def act(player: Player) -> None:
        player.arm_timer("a", 10)
        first = player._armed["a"]
        player.arm_timer("a", 20)
        second = player._armed["a"]
        player.drop_timer("a")
        player.mailbox.put(_Told(Tick("a", first)))
        player.mailbox.put(_Told(Tick("a", second)))
        player.mailbox.put(_Told(Tick("never armed", 7)))

    ref.ask(Do(act), timeout=WAIT_S)
    flush(ref)

    assert ref.ask(Do(lambda player: player.log), timeout=WAIT_S) == []


def test_a_timer_ticks_once_when_its_time_has_come(stage: Stage) -> None:
    latch = Latch()

    class Timed(Player):
        def receive(self, message: Any) -> Any:
            if isinstance(message, Tick):
                self.log.append(message.key)
                latch.reached.set()
                return None
            return super().receive(message)

    ref = stage.start(lambda: Timed(stage.system, stage.address("player")))
    ref.ask(Do(lambda player: player.arm_timer("a", 5)), timeout=WAIT_S)

    stage.platform.advance(4.9)
    flush(ref)
    assert ref.ask(Do(lambda player: list(player.log)), timeout=WAIT_S) == []
    stage.platform.advance(0.2)
    latch.wait_reached()

    assert ref.ask(Do(lambda player: list(player.log)), timeout=WAIT_S) == ["a"]


def test_the_timers_of_an_ended_actor_are_forgotten(stage: Stage) -> None:
    ref = _play(stage)
    ref.ask(Do(lambda player: player.arm_timer("a", 5)), timeout=WAIT_S)

    ref.tell(Do(boom))
    stage.end()

    assert stage.timers._live == {}


@pytest.mark.parametrize("point", ["actor.start", "actor.receive", "actor.handled"])
def test_a_fault_at_a_point_of_the_base_is_a_crash_like_any_other(point: str) -> None:
    stage = Stage(CrashAt(point))
    ref = _play(stage)
    if point != "actor.start":
        ref.tell("message")

    assert isinstance(stage.end(), InjectedError)
    stage.close()


def test_the_monitor_hears_even_if_the_last_hook_fails(stage: Stage) -> None:
    class Careless(Player):
        def ended(self, reason: BaseException | None) -> None:
            del reason
            boom()

    complaints: list[Any] = []
    before, threading.excepthook = threading.excepthook, complaints.append
    try:
        ref = stage.start(lambda: Careless(stage.system, stage.address("player")))
        ref.tell(Stop())
        assert stage.end() is None
        for thread in threading.enumerate():
            if thread.name == "player":
                thread.join(WAIT_S)
    finally:
        threading.excepthook = before
    assert len(complaints) == 1


class _Told:
    def __init__(self, message: Any) -> None:
        self.message = message
        self.reply_to = None
