"""Signals that come while a turn runs for the command line."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pykka
import pytest

from actors.local_host import run_turn
from actors.signals import ENDING, telling
from actors.turn import CancelAsked, EndTurn, TurnResult, TurnStarted

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from actors.turn import TurnEffect, TurnEvent


@pytest.fixture(autouse=True)
def handlers() -> Generator[None]:
    """Leave the handlers of this process as they were, and no actor."""
    before = {number: signal.getsignal(number) for number in ENDING}
    ring = signal.set_wakeup_fd(-1)
    yield
    for ref in pykka.ActorRegistry.get_all():  # told to stop, and a process ends without them
        assert ref.actor_stopped.wait(30)
    signal.set_wakeup_fd(ring)
    for number, handler in before.items():
        signal.signal(number, handler)


class Signalled:
    """A turn that sends this process a signal as it starts and at each cancel, then ends."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._left = [*numbers]
        self.reasons: list[str] = []

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        if isinstance(event, CancelAsked):
            self.reasons.append(event.reason)
        if not isinstance(event, CancelAsked | TurnStarted):
            return []
        if not self._left:
            return [EndTurn(TurnResult("cancelled"))]
        os.kill(os.getpid(), self._left.pop(0))
        return []


@pytest.mark.parametrize(
    ("numbers", "told", "reasons", "hurries"),
    [
        ([signal.SIGINT], signal.SIGINT, ["client"], []),
        ([signal.SIGTERM], signal.SIGTERM, ["shutdown"], [False]),
        ([signal.SIGINT, signal.SIGINT], signal.SIGINT, ["client", "hard_stop"], [True]),
        ([signal.SIGINT, signal.SIGTERM], signal.SIGTERM, ["client", "hard_stop"], [True]),
        ([signal.SIGINT, signal.SIGHUP], signal.SIGHUP, ["client", "hard_stop"], [True]),
        ([signal.SIGTERM, signal.SIGINT], signal.SIGTERM, ["shutdown", "hard_stop"], [False, True]),
    ],
)
def test_a_second_signal_of_any_kind_hurries_and_ctrl_c_is_told_only_where_it_came_alone(
    numbers: list[int], told: int, reasons: list[str], hurries: list[bool]
) -> None:
    machine, heard = Signalled(numbers), list[bool]()

    def hurry(*, hard: bool) -> None:
        heard.append(hard)

    ended = run_turn(machine, lambda _items: None, hurry=hurry)

    assert (ended.signals, ended.signal) == (numbers, told)
    assert (machine.reasons, heard) == (reasons, hurries)


def test_a_signal_after_the_end_of_the_turn_is_told_as_well() -> None:
    ended = run_turn(Signalled([signal.SIGINT]), _nothing)

    signal.raise_signal(signal.SIGTERM)

    assert ended.signal == signal.SIGTERM


def test_no_signal_is_told_where_none_came() -> None:
    assert telling(()) is None


def _nothing(_items: Sequence[Any]) -> None:
    pass
