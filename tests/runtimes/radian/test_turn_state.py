"""What comes next in a turn, by values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runtimes.models.answer import Answer, CallError
from runtimes.models.base import Text, ToolUse, Usage
from runtimes.radian.exit_codes import ENDINGS, GAVE_UP, TERMINATED, ending_of
from runtimes.radian.records import ToolCall, TurnEnded
from runtimes.radian.turn_state import (
    MAX_CONTINUATIONS,
    MAX_PAUSES,
    CallModel,
    Compact,
    Limits,
    RunTools,
    Told,
    TurnState,
)

if TYPE_CHECKING:
    from runtimes.models.base import FinishReason
    from runtimes.radian.records import End
    from runtimes.radian.turn_state import Next

READ = ToolUse("c1", "read", '{"path": "a"}')
HALF = ToolUse("c2", "read", '{"pa')


def begun(limits: Limits = Limits(), used: set[str] | None = None) -> TurnState:  # noqa: B008 - frozen
    state = TurnState(1, "m", limits, used or set())
    assert state.next_call() == CallModel(1, limits.output_tokens)
    return state


def says(finish: FinishReason, text: str = "", *calls: ToolUse, spent: int = 0) -> Told:
    parts = (*((Text(text),) if text else ()), *calls)
    return Told(Answer(parts, finish, usage=Usage(1, spent) if spent else None))


def after(state: TurnState, told: Told) -> Next:
    return state.answered(told)[1]


def reason_of(comes_next: Next) -> str | None:
    assert isinstance(comes_next, TurnEnded)
    return comes_next.reason


def test_an_answer_ends_the_turn_and_calls_go_on() -> None:
    assert after(begun(), says("stop", "hi")) == TurnEnded(1, "Completed")
    assert after(begun(), says("tools", "", READ)) == RunTools((READ,))


def test_what_an_answer_holds_counts_more_than_its_last_word() -> None:
    assert after(begun(), says("stop", "", READ)) == RunTools((READ,))
    assert after(begun(), says("tools", "hi")) == TurnEnded(1, "Completed")
    assert reason_of(after(begun(), says("tools"))) == "unfinished"


@pytest.mark.parametrize(("finish", "reason"), [("refused", "refused"), ("broken", "unfinished")])
def test_calls_of_an_answer_that_went_wrong_never_run(finish: FinishReason, reason: str) -> None:
    assert reason_of(after(begun(), says(finish, "", READ))) == reason


def test_a_cut_answer_is_continued_a_few_times_and_its_pieces_belong_together() -> None:
    state = begun()
    pieces = [state.answered(says("length", "piece")) for _ in range(MAX_CONTINUATIONS + 1)]

    assert [message.continues for message, _ in pieces] == [False, True, True, True]
    assert [isinstance(comes_next, CallModel) for _, comes_next in pieces] == [True] * 3 + [False]
    assert reason_of(pieces[-1][1]) == "truncated"


def test_a_cut_call_is_dropped_and_tried_once_more_with_twice_the_room() -> None:
    state = begun(Limits(output_tokens=100))
    cut = Told(Answer((Text("I read."),), "length", dropped=(HALF,)))

    message, comes_next = state.answered(cut)

    assert (message.superseded, comes_next) == (True, CallModel(2, 200, again=True))
    assert reason_of(after(state, cut)) == "truncated"


def test_there_is_no_second_attempt_without_more_room() -> None:
    state = begun(Limits(output_tokens=100, model_output_tokens=100))

    assert reason_of(after(state, says("length"))) == "truncated"


def test_arguments_that_are_no_json_are_tried_once_more() -> None:
    state = begun()
    bad = Told(Answer((), "tools", dropped=(HALF,)))

    assert after(state, bad) == CallModel(2, again=True)
    assert reason_of(after(state, bad)) == "unfinished"


def test_a_pause_sends_the_same_again_but_not_for_ever() -> None:
    state = begun()
    for number in range(2, MAX_PAUSES + 2):
        assert after(state, says("pause", "hm")) == CallModel(number)
    assert reason_of(after(state, says("pause", "hm"))) == "unfinished"


def test_calls_and_money_are_counted_before_each_call() -> None:
    calls = begun(Limits(model_calls=1))
    calls.answered(says("tools", "", READ))
    money = begun(Limits(cost_micros=100))
    money.answered(Told(says("tools", "", READ).answer, cost_micros=100))

    assert reason_of(calls.next_call()) == "model_calls"
    assert reason_of(money.next_call()) == "cost"


def test_the_limit_of_calls_comes_before_a_continuation() -> None:
    assert reason_of(after(begun(Limits(model_calls=1)), says("length", "x"))) == "model_calls"


def test_each_call_has_an_id_of_its_own_in_the_session() -> None:
    used = {"c1"}
    message, comes_next = begun(used=used).answered(says("tools", "", READ, READ))

    assert isinstance(comes_next, RunTools)
    assert [call.call_id for call in comes_next.calls] == ["c1-2", "c1-3"]
    assert [part.call_id for part in message.parts if isinstance(part, ToolCall)] == [
        "c1-2",
        "c1-3",
    ]
    assert used == {"c1", "c1-2", "c1-3"}


def test_a_failed_call_ends_the_turn_with_its_words() -> None:
    error = CallError("no", "credential", retryable=False, http_status=401)
    message, comes_next = begun().answered(Told(Answer(error=error)))

    assert (message.finish, message.error) == ("failed", "no")
    assert comes_next == TurnEnded(1, "Failed", origin="credential", retryable=False, error="no")


# --- a conversation that is too long


TOO_LONG = Told(Answer(error=CallError("too long", http_status=400, context_overflow=True)))


def full(finish_text: str, *dropped: ToolUse) -> Told:
    parts = (Text(finish_text),) if finish_text else ()
    answer = Answer(parts, "length", usage=Usage(900, 90), dropped=dropped)
    return Told(answer, context_window=1000)


def test_a_conversation_that_is_too_long_is_summarised_once_and_the_call_made_again() -> None:
    state = begun()

    message, comes_next = state.answered(TOO_LONG)

    assert (message.finish, message.superseded) == ("failed", True)
    assert comes_next == Compact(CallModel(0, again=True), "overflow", "too long")
    assert isinstance(comes_next, Compact)
    assert state.summary_call() == 2
    assert state.call(comes_next.then) == CallModel(3, again=True)
    failed = after(state, TOO_LONG)
    assert isinstance(failed, TurnEnded)
    assert (failed.end, failed.origin, failed.retryable) == ("Failed", "model", False)
    assert "also with a summary: too long" in (failed.error or "")


def test_a_call_that_came_through_makes_room_for_another_summary() -> None:
    state = begun()
    state.answered(TOO_LONG)
    state.answered(says("tools", "", READ))

    assert isinstance(after(state, TOO_LONG), Compact)


def test_an_answer_that_filled_the_context_goes_on_after_a_summary() -> None:
    state = begun()

    message, comes_next = state.answered(full("piece"))

    assert not message.superseded
    assert comes_next == Compact(CallModel(0, go_on=True), "full")
    assert isinstance(comes_next, Compact)
    state.summary_call()
    assert state.call(comes_next.then) == CallModel(3, go_on=True)
    continued, again = state.answered(full("more"))
    assert continued.continues
    assert again == CallModel(4, go_on=True)


def test_a_continuation_that_is_too_long_is_still_one_after_the_summary() -> None:
    state = begun()
    state.answered(says("length", "piece"))

    message, comes_next = state.answered(TOO_LONG)

    assert (message.continues, message.superseded) == (True, True)
    assert comes_next == Compact(CallModel(0, again=True, go_on=True), "overflow", "too long")


def test_a_call_cut_off_by_the_context_is_made_again_after_a_summary() -> None:
    message, comes_next = begun().answered(full("", HALF))

    assert message.superseded
    assert comes_next == Compact(CallModel(0, again=True), "full")


def test_a_vendor_may_say_that_the_context_is_full() -> None:
    answer = Answer((Text("a"),), "length", detail="model_context_window_exceeded")

    assert isinstance(after(begun(), Told(answer)), Compact)


def test_there_is_no_summary_without_a_call_left_to_use_it() -> None:
    state = begun(Limits(model_calls=2))
    call = CallModel(1)

    assert reason_of(after(state, TOO_LONG)) == "model_calls"
    assert begun(Limits(model_calls=1)).compact_first(call) is call
    assert begun(Limits(model_calls=2)).compact_first(call) == Compact(CallModel(0), "due")


def test_a_summary_in_time_takes_the_number_of_the_call_before_which_it_is_made() -> None:
    state = begun()

    wanted = state.compact_first(CallModel(1))

    assert isinstance(wanted, Compact)
    assert (state.summary_call(), state.call(wanted.then)) == (1, CallModel(2))


# --- the table of ends


def test_every_end_has_a_row() -> None:
    for (end, key), ending in ENDINGS.items():
        kind: End = end  # type: ignore[assignment]
        record = (
            TurnEnded(1, kind, origin=key) if end == "Failed" else TurnEnded(1, kind, key or None)
        )
        assert ending_of(record) == ending


def test_signals_patience_and_lost_readers_change_the_code() -> None:
    interrupted = TurnEnded(1, "Interrupted")

    assert ending_of(interrupted, terminated=True).exit_code == TERMINATED
    assert ending_of(interrupted, unheard=True).exit_code == 1
    assert ending_of(TurnEnded(1, "Completed"), terminated=True).exit_code == 0
    assert ending_of(TurnEnded(1, "Failed", origin="model", retryable=True)) == GAVE_UP
