"""A turn whose journal fails, or that has a fault: what it started is over before it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from actors.model_call import ModelEnded
from actors.turn import MachineFailed, ModelSaid, StartCall, StepEnded, TimerFired
from actors.work import StepEnd
from runtimes.radian import events
from runtimes.radian.agent_turn import LEAVE_LIMIT
from tests.runtimes.radian.by_hand import Book, Hands, Model, calls, desk_of, first_text, says

if TYPE_CHECKING:
    from runtimes.models.base import ModelEvent, ModelRequest


def two_tasks(request: ModelRequest) -> list[ModelEvent]:
    """Have two subagents work side by side."""
    if first_text(request) == "go":
        return calls(*(("subagent", json.dumps({"prompt": each})) for each in "ab"))
    return says("report")


def streams(hands: Hands) -> list[str]:
    return [name for name, each in hands.running.items() if isinstance(each, StartCall)]


def steps(hands: Hands) -> list[str]:
    return [name for name in hands.running if name not in streams(hands)]


def journal(hands: Hands) -> list[str]:
    return [each for each in steps(hands) if "/journal-" in each]


def streaming(model: Model | None = None) -> tuple[Hands, Book, list[str]]:
    """Have a turn with two streams on their way; return their names."""
    hands = Hands(desk_of(model or Model(two_tasks)))
    while len(streams(hands)) < 2:
        hands.end_one((steps(hands) or streams(hands))[0])
    book: Any = hands.desk.journal
    return hands, book, streams(hands)


def fail(hands: Hands, book: Book, stream: str) -> None:
    """End a stream whose answer can't be written."""
    book.full = True
    hands.end_one(stream)
    hands.end_one(journal(hands)[0])


def test_a_turn_whose_journal_fails_waits_for_the_streams_that_it_stopped() -> None:
    hands, book, (one, other) = streaming()

    fail(hands, book, one)
    before = hands.outcome
    stopped = set(hands.aborted)
    hands.end_one(other)

    assert (before, stopped) == (None, {other})
    assert hands.outcome is not None
    assert not hands.outcome.journaled
    assert (hands.outcome.fold.end.end, hands.outcome.fold.end.error) == ("Failed", "no space left")
    assert [type(each) for each in hands.said].count(events.TurnEnded) == 1
    assert isinstance(hands.said[-1], events.TurnEnded)


def test_it_does_not_wait_for_ever() -> None:
    hands, book, (one, _) = streaming()

    fail(hands, book, one)
    assert (hands.outcome, hands.timers) == (None, [LEAVE_LIMIT])
    hands.feed(TimerFired(LEAVE_LIMIT))

    assert hands.outcome is not None


def test_what_a_stopped_stream_still_says_goes_nowhere() -> None:
    hands, book, (one, other) = streaming()
    fail(hands, book, one)
    said, started = len(hands.said), len(hands.ids)

    hands.feed(ModelSaid(other, "more"))
    hands.feed(ModelSaid(other, ModelEnded("done")))

    assert len(hands.said) == said + 1
    assert len(hands.ids) == started


def test_a_call_of_a_tool_is_stopped_and_waited_for_as_well() -> None:
    def answer(request: ModelRequest) -> list[ModelEvent]:
        return calls(("look", "{}")) if first_text(request) == "a" else two_tasks(request)

    hands, book, (looker, other) = streaming(Model(answer))
    hands.end_one(looker)
    while begun := journal(hands) or [each for each in steps(hands) if "prepare" in each]:
        hands.end_one(begun[0])
    (look,) = steps(hands)

    fail(hands, book, other)
    before, stopped = hands.outcome, set(hands.aborted)
    hands.end_one(look)

    assert (before, stopped) == (None, {look})
    assert hands.outcome is not None


@pytest.mark.parametrize("at", ["a stream", "no stream"])
def test_a_fault_of_ours_ends_what_runs_before_the_turn_is_over(at: str) -> None:
    hands, _, names = streaming()
    if at == "no stream":
        for each in names:
            hands.feed(ModelSaid(each, ModelEnded("done")))
            del hands.running[each]
        names = []

    hands.feed(MachineFailed())
    while journal(hands):
        hands.end_one(journal(hands)[0])
    before = hands.outcome
    for each in names:
        hands.end_one(each)

    assert (before is None) == bool(names)
    assert hands.outcome is not None
    assert hands.outcome.fold.end.error == "a fault of radian's own; the log has it"


def test_a_late_end_of_a_step_that_was_waited_for_is_the_last_thing_heard() -> None:
    hands, book, (one, other) = streaming()
    fail(hands, book, one)

    hands.feed(StepEnded(StepEnd("stranger", "cancelled")))
    assert hands.outcome is None
    hands.end_one(other)

    assert hands.outcome is not None
