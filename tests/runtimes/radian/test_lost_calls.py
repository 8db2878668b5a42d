"""A call of the model that ends without anybody having wanted that, by values."""

from __future__ import annotations

from actors.model_call import ModelEnded
from actors.turn import CancelAsked, ModelSaid, StartCall
from runtimes.models.answer import Answer
from runtimes.models.base import Text, TextDelta
from runtimes.radian.records import AssistantMessage
from runtimes.radian.turn_state import Told
from tests.runtimes.radian.by_hand import Book, Hands, Model, NeverCancelled, desk_of, says

CUT_SHORT = Told(Answer((Text("half"),), finish="cancelled"))


def begun() -> tuple[Hands, str]:
    """Have a turn call its model; return the call."""
    hands = Hands(desk_of(Model(lambda _: says("never"))))
    while not any("call" in name for name in hands.running):
        hands.end_one(next(iter(hands.running)))
    (call,) = hands.running
    hands.running.clear()
    return hands, call


def test_a_call_that_was_cut_short_by_a_restart_is_no_cancel_of_the_turn() -> None:
    hands, call = begun()

    hands.feed(ModelSaid(call, CUT_SHORT))
    hands.feed(ModelSaid(call, ModelEnded("cancelled")))
    outcome = hands.run()

    assert outcome.ending.stop_reason == "refusal"
    assert (outcome.fold.end.end, outcome.fold.end.retryable) == ("Failed", True)
    assert outcome.fold.end.error == "the call was lost"


def test_what_a_call_said_is_kept_also_if_it_never_told_its_end() -> None:
    hands = Hands(desk_of(Model(lambda _: says("half"))))
    while not any("call" in name for name in hands.running):
        hands.end_one(next(iter(hands.running)))
    ((call, effect),) = hands.running.items()
    assert isinstance(effect, StartCall)
    hands.running.clear()
    assert TextDelta("half") in list(effect.request.open(NeverCancelled()))

    hands.feed(CancelAsked("client"))
    hands.feed(ModelSaid(call, ModelEnded("cancelled")))
    outcome = hands.run()

    assert outcome.ending.stop_reason == "cancelled"
    assert outcome.fold.text == "half"


def test_a_call_that_was_cut_short_by_a_cancel_is_kept_as_far_as_it_came() -> None:
    hands, call = begun()

    hands.feed(CancelAsked("client"))
    hands.feed(ModelSaid(call, CUT_SHORT))
    hands.feed(ModelSaid(call, ModelEnded("cancelled")))
    outcome = hands.run()

    assert outcome.ending.stop_reason == "cancelled"
    book = hands.desk.journal
    assert isinstance(book, Book)
    (message,) = [each for each in book.records if isinstance(each, AssistantMessage)]
    assert (message.partial, message.parts) == (True, (Text("half"),))
