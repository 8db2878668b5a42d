"""One call for a summary, by values."""

from __future__ import annotations

from typing import Any

import pytest

from runtimes.models.answer import Answer, CallError
from runtimes.models.base import Text, ToolUse, Usage
from runtimes.radian import events
from runtimes.radian.compacting import MAX_ATTEMPTS, Compacting, not_compacted
from runtimes.radian.compaction import plan_of
from runtimes.radian.records import AssistantMessage, Compacted, TurnEnded
from runtimes.radian.summary_request import NO_SUMMARY
from runtimes.radian.turn_state import CallModel, Compact, Limits, Told, TurnState
from tests.runtimes.radian.journals import asked, entries, turn

OVERFLOW = CallError("too long", http_status=400, context_overflow=True)
BROKEN = CallError("it is odd", http_status=400)
DOWN = CallError("it is down", retryable=True, http_status=503)
NO_KEY = CallError("no key", "credential", http_status=401)
THEN = CallModel(0, again=True)


def compacting(why: Any = "overflow", attempt: int = 1, limits: Limits = Limits()) -> Compacting:  # noqa: B008 - frozen
    state = TurnState(3, "m", limits, set())
    state.next_call()
    plan = plan_of(entries(*turn(1, "Use tabs.", "x" * 9000), asked(3, "and now?")))
    assert plan is not None
    return Compacting(3, state, Compact(THEN, why, "400", attempt), plan, None)


def wrote(text: str, *more: ToolUse) -> Told:
    answer = Answer((Text(text), *more), "stop", usage=Usage(70, 8), model_ms=5)
    return Told(answer, 12, "config", 1000)


def failed(error: CallError) -> Told:
    return Told(Answer(error=error))


def test_a_summary_is_recorded_with_what_its_call_cost_and_the_turn_goes_on() -> None:
    came = compacting().ended(wrote("They agreed."))

    (record,) = came.records
    assert isinstance(record, Compacted)
    assert record.summary.startswith("They agreed.\n")
    assert (record.turn, record.call, record.model, record.model_ms) == (3, 2, "m", 5)
    assert (record.usage, record.cost_micros, record.price_source) == (Usage(70, 8), 12, "config")
    assert came.comes_next == CallModel(3, again=True)
    (said,) = came.events
    assert isinstance(said, events.Compaction)
    assert said.tokens_before == record.tokens_before


@pytest.mark.parametrize("why", ["due", "overflow", "full"])
def test_a_request_that_was_too_long_itself_is_made_of_less_a_few_times(why: Any) -> None:
    first = compacting(why)

    came = first.ended(failed(OVERFLOW))

    assert came.comes_next == Compact(THEN, why, "400", 2)
    (record,) = came.records
    assert isinstance(record, AssistantMessage)
    assert (record.finish, record.superseded, record.error) == ("failed", True, "too long")
    last = compacting(why, MAX_ATTEMPTS)
    assert len(last.ask()) < len(first.ask())
    assert not isinstance(last.ended(failed(OVERFLOW)).comes_next, Compact)


@pytest.mark.parametrize("error", [OVERFLOW, BROKEN])
def test_a_summary_that_can_not_be_had_ends_the_turn_only_if_it_can_not_go_on(
    error: CallError,
) -> None:
    early, late, cut = (
        compacting(why, MAX_ATTEMPTS).ended(failed(error)) for why in ("due", "overflow", "full")
    )

    assert early.comes_next == CallModel(3, again=True)
    (warned,) = early.events
    assert isinstance(warned, events.Warning)
    assert isinstance(late.comes_next, TurnEnded)
    assert (late.comes_next.end, late.comes_next.origin) == ("Failed", "model")
    assert error.message in (late.comes_next.error or "")
    assert isinstance(cut.comes_next, TurnEnded)
    assert (cut.comes_next.end, cut.comes_next.reason) == ("Incomplete", "truncated")


@pytest.mark.parametrize("why", ["due", "overflow", "full"])
@pytest.mark.parametrize("error", [DOWN, NO_KEY])
def test_a_provider_that_is_down_or_wants_another_key_is_not_asked_again(
    why: Any, error: CallError
) -> None:
    end = compacting(why).ended(failed(error)).comes_next

    assert isinstance(end, TurnEnded)
    assert (end.end, end.origin, end.retryable) == ("Failed", error.origin, error.retryable)


def test_after_a_summary_that_failed_there_is_no_early_one_in_this_turn() -> None:
    state = TurnState(3, "m", Limits(), set())
    call = state.next_call()
    assert isinstance(call, CallModel)
    wanted = state.compact_first(call)
    assert isinstance(wanted, Compact)

    again = not_compacted(3, state, wanted)

    assert again == CallModel(1)
    assert state.compact_first(CallModel(1)) == CallModel(1)


def test_an_empty_answer_makes_room_where_there_must_be_some() -> None:
    call = ToolUse("c", "read", "{}")
    for told in (wrote(" "), wrote("", call)):
        (record,) = compacting("overflow").ended(told).records
        assert isinstance(record, Compacted)
        assert record.summary.startswith(NO_SUMMARY)
        (kept,) = compacting("due").ended(told).records
        assert isinstance(kept, AssistantMessage)
        assert (kept.superseded, kept.parts, kept.cost_micros) == (True, (), 12)


def test_a_cancelled_summary_leaves_everything_as_it_was() -> None:
    unpaid = compacting().ended(Told(Answer((Text("They"),), "cancelled")))
    paid = compacting().ended(Told(Answer((), "cancelled", usage=Usage(70, 1)), 12))

    assert (unpaid.records, unpaid.events) == ((), ())
    assert unpaid.comes_next == TurnEnded(3, "Interrupted")
    (record,) = paid.records
    assert isinstance(record, AssistantMessage)
    assert (record.superseded, record.cost_micros) == (True, 12)


def test_calls_for_summaries_are_counted_and_paid() -> None:
    once = compacting(limits=Limits(model_calls=3)).ended(failed(OVERFLOW)).comes_next
    money = compacting(limits=Limits(cost_micros=10)).ended(wrote("s")).comes_next

    assert isinstance(once, TurnEnded)
    assert once.reason == "model_calls"
    assert isinstance(money, TurnEnded)
    assert money.reason == "cost"
