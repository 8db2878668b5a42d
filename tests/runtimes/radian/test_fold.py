"""What a turn came to."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from runtimes.models.base import Text, Usage
from runtimes.radian.fold import Cost, Denial, Metrics, cost_of, fold_turn, last_text, turns_of
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    Entry,
    JobStarted,
    PermissionDecided,
    QuestionAnswered,
    TurnEnded,
    TurnStarted,
)
from tests.runtimes.radian.journals import (
    JOURNALS,
    TURNS,
    asked,
    called,
    entries,
    result,
    said,
    turn,
)

if TYPE_CHECKING:
    from runtimes.radian.fold import Call


@given(JOURNALS, TURNS)
def test_a_fold_is_unchanged_by_records_of_other_turns(journal: list[Entry], number: int) -> None:
    own = [each for each in journal if getattr(each.record, "turn", None) == number]

    assert fold_turn(journal, number) == fold_turn(own, number)


@given(JOURNALS)
def test_the_costs_of_the_turns_add_up_to_the_sessions(journal: list[Entry]) -> None:
    costs = [fold_turn(journal, each).cost for each in (1, 2, 3)]

    whole = cost_of(each.record for each in journal)

    known = [each.micros for each in costs if each is not None]
    assert (sum(known) if known else None) == (None if whole is None else whole.micros)


@given(JOURNALS, TURNS, st.integers(0, 9))
def test_metrics_have_no_key_without_a_value(
    journal: list[Entry], number: int, retries: int
) -> None:
    metrics = fold_turn(journal, number, retries=retries).metrics

    assert metrics.retries == retries
    assert None not in metrics.as_table().values()
    assert metrics.tool_failures <= metrics.tool_calls
    assert metrics.as_table().keys() <= {each.name for each in fields(Metrics)}


def test_a_turn_of_every_kind_of_record() -> None:
    journal = entries(
        *turn(1, "before", "other"),
        TurnStarted(2, "prompt"),
        asked(2, "do it"),
        called(
            2, "a", "b", usage=Usage(100, 20, 60, 10, 5), cost_micros=300, model_ms=40, ttft_ms=7
        ),
        PermissionDecided(2, "a", "allow_once", "user", wait_ms=500),
        PermissionDecided(2, "b", "deny", "rule", reason="no rm"),
        result(2, "a", ms=30),
        result(2, "b", "denied", status="failed"),
        QuestionAnswered(2, "a", "which?", "this", wait_ms=100),
        JobStarted("j1", "make", 2),
        said(2, "task", usage=Usage(10, 1), cost_micros=9, model_ms=1000, agent="a"),
        Compacted(2, "short", 5, usage=Usage(50, 5, 20), cost_micros=30, model_ms=9),
        said(2, "done", call=3, usage=Usage(200, 9), cost_micros=1, model_ms=5, context_window=999),
        TurnEnded(2, "Completed", wall_ms=700),
    )

    fold = fold_turn(journal, 2, retries=1)

    assert fold.text == "done"
    assert fold.cost == Cost(340)
    assert fold.end == TurnEnded(2, "Completed", wall_ms=700)
    assert fold.denials == (Denial("b", "read", "no rm"),)
    assert fold.metrics.as_table() == {
        "model_calls": 3,
        "retries": 1,
        "tool_calls": 2,
        "tool_failures": 1,
        "tool_denials": 1,
        "compactions": 1,
        "wall_ms": 700,
        "model_ms": 54,
        "ttft_ms": 7,
        "tool_ms": 30,
        "wait_ms": 600,
        "input_tokens": 360,
        "output_tokens": 35,
        "cache_read_tokens": 80,
        "cache_write_tokens": 10,
        "reasoning_tokens": 5,
        "context_tokens": 209,
        "context_window": 999,
        "subagent_calls": 1,
        "subagent_model_calls": 1,
        "jobs_started": 1,
    }


def test_a_turn_in_which_nothing_was_called_has_only_counts() -> None:
    fold = fold_turn(entries(TurnStarted(1, "prompt"), TurnEnded(1, "Failed", wall_ms=3)), 1)

    assert (fold.text, fold.cost) == ("", None)
    assert fold.metrics == Metrics(wall_ms=3)


def test_a_call_without_a_price_has_no_cost_and_makes_that_of_others_incomplete() -> None:
    unpriced, priced = said(1, "a", usage=Usage(5, 5)), said(1, "b", cost_micros=7)

    assert fold_turn(entries(unpriced), 1).cost is None
    assert fold_turn(entries(unpriced, priced), 1).cost == Cost(7, incomplete=True)


def test_a_call_that_was_cut_before_its_usage_came_makes_the_cost_incomplete() -> None:
    cut = AssistantMessage(1, 2, (Text("ha"),), "cancelled", partial=True)

    fold = fold_turn(entries(said(1, "a", usage=Usage(1, 1), cost_micros=7), cut), 1)

    assert fold.cost == Cost(7, incomplete=True)
    assert fold.metrics.usage_missing_calls == 1
    assert fold.metrics.context_tokens is None


def test_a_free_call_costs_nothing_which_is_not_unknown() -> None:
    assert cost_of([said(1, "a", cost_micros=0)]) == Cost(0)


def test_what_is_priced_now_is_an_estimate() -> None:
    def price(call: Call) -> int | None:
        assert call.usage is not None
        return call.usage.input_tokens

    records = [said(1, "a", cost_micros=7), said(1, "b", usage=Usage(5, 5)), said(1, "c")]

    assert cost_of(records, price) == Cost(12, incomplete=True, estimated=True)
    assert cost_of(records[:1], price) == Cost(7)


def test_the_text_is_that_of_the_last_answer_literally() -> None:
    assert last_text([said(1, "first"), called(1, "a", call=2)]) == ""
    assert last_text([said(1, "first"), said(1, "", call=2)]) == ""
    assert last_text([asked(1, "x")]) == ""


def test_pieces_of_an_answer_that_was_cut_off_are_one_text() -> None:
    pieces = [said(1, "zero"), said(1, "one "), said(1, "two", continues=True)]

    assert last_text(pieces) == "one two"


def test_failed_and_replaced_attempts_and_subagents_have_no_text() -> None:
    failed = AssistantMessage(1, 2, (), "failed", error="overloaded")

    records = [said(1, "kept"), said(1, "x", superseded=True), failed, said(1, "y", agent="c")]

    assert last_text(records) == "kept"
    assert fold_turn(entries(*records), 1).metrics.model_calls == 3


def test_an_interrupted_answer_has_the_text_that_came() -> None:
    assert last_text([said(1, "half", partial=True, finish="cancelled")]) == "half"


def test_a_turn_without_an_end_was_interrupted_and_lasted_as_long_as_its_records() -> None:
    journal = [
        Entry(2, "2026-11-30T10:00:00.000Z", TurnStarted(1, "prompt")),
        Entry(3, "2026-11-30T10:00:01.250Z", asked(1, "x")),
    ]

    fold = fold_turn(journal, 1)

    assert fold.end == TurnEnded(1, "Interrupted")
    assert fold.metrics.wall_ms == 1250


def test_calls_under_one_id_are_counted_each() -> None:
    journal = entries(
        called(1, "c"), PermissionDecided(1, "c", "allow_once", "profile"), result(1, "c"),
        called(1, "c", call=2), result(1, "c"),
    )  # fmt: skip

    assert fold_turn(journal, 1).metrics.tool_calls == 2


def test_a_call_that_a_crash_cut_off_reached_its_tool() -> None:
    decided = PermissionDecided(1, "c", "allow_once", "profile")

    assert fold_turn(entries(called(1, "c", "d"), decided), 1).metrics.tool_calls == 1


def test_turns_are_listed() -> None:
    assert turns_of(entries(*turn(1, "a", "b"), *turn(2, "c", "d"))) == [1, 2]
