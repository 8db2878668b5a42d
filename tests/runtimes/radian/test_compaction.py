"""When a conversation is shortened, and what stays of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.models.base import Kept, Text, ToolOutput, ToolUse, Usage
from runtimes.radian.compaction import (
    IMAGE_TOKENS,
    Plan,
    context_size,
    is_due,
    plan_of,
    tokens_of,
    window_of,
)
from runtimes.radian.message_building import SUMMARY
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    Entry,
    ImageFile,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.transcript import build_messages
from tests.runtimes.radian.journals import (
    JOURNALS,
    TS,
    asked,
    called,
    entries,
    result,
    said,
    turn,
)
from tests.runtimes.radian.test_transcript import assert_valid

if TYPE_CHECKING:
    from runtimes.models.base import Message
    from runtimes.radian.records import Record

LONG = "x" * 4000


def measured(turn_: int, tokens: int, text: str = "ok", call: int = 1) -> AssistantMessage:
    return said(turn_, text, call, usage=Usage(tokens, 0))


def planned(journal: list[Entry], window: int | None = None, *, go_on: bool = False) -> Plan:
    plan = plan_of(journal, window, go_on=go_on)
    assert plan is not None
    return plan


def shortened(journal: list[Entry], plan: Plan, summary: str = "short") -> list[Entry]:
    """Return the journal with its summary."""
    seq = journal[-1].seq + 1
    return [*journal, Entry(seq, TS, Compacted(1, summary, plan.first_kept_seq))]


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [part.text for each in messages for part in each.parts if isinstance(part, Text)]


# --- when


@pytest.mark.parametrize(
    ("tokens", "window", "output_tokens", "due"),
    [
        (790, 1000, None, False),
        (810, 1000, None, True),
        (810, None, None, False),
        (610, 1000, 400, True),
        (590, 1000, 400, False),
        (490, 1000, 1000, False),  # an answer may be as long as the window: half is left
    ],
)
def test_a_conversation_is_shortened_before_it_fills_the_window(
    tokens: int, window: int | None, output_tokens: int | None, *, due: bool
) -> None:
    journal = entries(asked(1, "x"), measured(1, tokens))

    assert is_due(journal, window, output_tokens) is due


def test_what_came_after_the_last_call_is_estimated() -> None:
    journal = entries(asked(1, "x"), measured(1, 100), asked(2, LONG))

    assert 1100 <= context_size(journal) <= 1110
    assert is_due(journal, 1200)


def test_without_any_usage_all_is_estimated() -> None:
    journal = entries(asked(1, LONG), said(1, LONG))

    assert 2000 <= context_size(journal) <= 2020
    assert is_due(journal, 2100)


def test_an_attempt_that_was_replaced_measures_nothing() -> None:
    journal = entries(
        asked(1, "x"), measured(1, 100), replace(measured(1, 900, call=2), superseded=True)
    )

    assert context_size(journal) == 100


def test_a_summary_that_did_not_help_is_not_tried_again_until_the_conversation_has_grown() -> None:
    journal = entries(
        asked(1, "x"),
        measured(1, 900),
        Compacted(1, "short", 1),
        measured(1, 850, call=2),
        measured(1, 920, call=3),
    )
    more = entries(*(each.record for each in journal), measured(1, 951, call=4))

    assert not is_due(journal[:3], 1000)
    assert not is_due(journal[:4], 1000)
    assert not is_due(journal, 1000)
    assert is_due(more, 1000)


def test_a_summary_is_never_due_right_after_one_however_long_it_is() -> None:
    journal = entries(asked(1, LONG), Compacted(1, LONG, 1))

    assert not is_due(journal, 1000)


def test_the_window_is_what_a_person_says_or_the_same_model_said_last() -> None:
    told = replace(said(1, "a"), model="m", context_window=500)

    assert window_of(entries(told), "m", 900) == 900
    assert window_of(entries(told, said(1, "b")), "m", None) == 500
    assert window_of(entries(told), "other", None) is None
    assert window_of(entries(said(1, "a")), "m", None) is None


def test_pictures_count_and_what_is_not_sent_does_not() -> None:
    picture = UserMessage(1, (ImageFile("aa", "image/png"),))

    assert tokens_of(picture) > IMAGE_TOKENS
    assert tokens_of(replace(said(1, LONG), superseded=True)) == 0
    assert tokens_of(TurnStarted(1, "prompt")) == 0


# --- what stays


def test_the_oldest_goes_and_the_question_stays() -> None:
    journal = entries(*turn(1, LONG, LONG), *turn(2, LONG, LONG * 2), asked(3, "and now?"))

    plan = planned(journal)

    assert plan.first_kept_seq == 9
    assert [each.seq for each in plan.head] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert texts(build_messages(shortened(journal, plan))) == [SUMMARY + "short", "and now?"]


def test_what_is_new_stays_as_it_is() -> None:
    journal = entries(*turn(1, LONG * 5, LONG * 5), *turn(2, "why?", "so"), asked(3, "and now?"))

    plan = planned(journal)

    assert texts(build_messages(shortened(journal, plan))) == [
        SUMMARY + "short",
        "why?",
        "so",
        "and now?",
    ]


def test_in_the_middle_of_a_turn_its_question_stays_and_rounds_go_as_a_whole() -> None:
    rounds: list[Record] = []
    for number in range(1, 9):
        rounds += [called(1, f"c{number}", call=number), result(1, f"c{number}", LONG)]
    journal = entries(TurnStarted(1, "prompt"), asked(1, "do it"), *rounds)

    plan = planned(journal)
    messages = build_messages(shortened(journal, plan))

    assert_valid(messages)
    assert texts(messages)[:2] == ["do it", SUMMARY + "short"]
    kept = [part.call_id for each in messages for part in each.parts if isinstance(part, ToolUse)]
    assert kept == ["c7", "c8"]


def test_a_result_too_large_for_what_may_stay_goes_too() -> None:
    journal = entries(TurnStarted(1, "prompt"), asked(1, "do it"), called(1, "a"), result(1, "a"))

    plan = planned(journal)
    messages = build_messages(shortened(journal, plan))

    assert plan.first_kept_seq == 5
    assert [each.role for each in messages] == ["user"]
    assert texts(messages) == ["do it", SUMMARY + "short"]


def test_an_answer_that_is_to_be_continued_stays_with_all_its_pieces() -> None:
    pieces = (said(2, LONG, finish="length"), said(2, LONG, 2, finish="length", continues=True))
    journal = entries(*turn(1, "a", "b"), asked(2, "tell"), *pieces)

    plan = planned(journal, go_on=True)

    assert plan.first_kept_seq <= 6
    assert texts(build_messages(shortened(journal, plan)))[-1] == LONG * 2


def test_with_nothing_but_the_question_there_is_nothing_to_shorten() -> None:
    alone = entries(TurnStarted(1, "prompt"), asked(1, LONG))
    summarised = entries(asked(1, "x"), Compacted(1, LONG, 2), asked(2, LONG))

    assert plan_of(alone) is None
    assert plan_of(summarised[1:]) is None


def test_a_later_summary_takes_the_place_of_the_one_before() -> None:
    journal = entries(*turn(1, LONG, LONG), *turn(2, LONG, LONG * 2), asked(3, "and now?"))
    once = shortened(journal, planned(journal), "first")
    more = entries(*(each.record for each in once), said(3, LONG), asked(4, "more"))

    plan = planned(more)
    messages = build_messages(shortened(more, plan, "second"))

    assert any(isinstance(each.record, Compacted) for each in plan.head)
    assert texts(messages) == [SUMMARY + "second", "more"]
    assert [each.content for each in plan.said] == [
        (Text(LONG),),
        (Text(LONG),),
        (Text("and now?"),),
    ]


def test_pictures_and_signatures_go_with_their_messages_and_those_of_the_question_stay() -> None:
    picture = ImageFile("aa", "image/png")
    thought = AssistantMessage(1, 1, (Kept({"from": "anthropic", "s": "x"}), Text(LONG)), "stop")
    journal = entries(
        UserMessage(1, (picture, Text(LONG))),
        thought,
        UserMessage(2, (picture, Text("and this?"))),
        called(2, "a"),
        result(2, "a", LONG * 3),
    )

    messages = build_messages(shortened(journal, planned(journal)), images={picture: "cGlj"}.get)

    kinds = [type(part).__name__ for each in messages for part in each.parts]
    assert kinds == ["Image", "Text", "Text"]


def test_an_interrupted_turn_is_told_of_after_a_summary_too() -> None:
    journal = entries(TurnStarted(1, "prompt"), asked(1, "do"), called(1, "a"), result(1, "a"))
    short = shortened(journal, planned(journal))
    seq = short[-1].seq
    later = [
        Entry(seq + 1, TS, TurnStarted(2, "prompt")),
        Entry(seq + 2, TS, asked(2, "go on")),
    ]
    ended = [Entry(seq + 1, TS, TurnEnded(1, "Completed")), Entry(seq + 2, TS, asked(2, "go on"))]

    assert any("interrupted" in each for each in texts(build_messages([*short, *later])))
    assert not any("interrupted" in each for each in texts(build_messages([*short, *ended])))


@given(JOURNALS, st.none() | st.integers(1, 200_000), st.booleans(), st.sampled_from([None, "c1"]))
def test_whatever_is_shortened_makes_a_valid_request_that_is_no_longer_and_has_the_question(
    journal: list[Entry],
    window: int | None,
    go_on: bool,  # noqa: FBT001 - drawn
    agent: str | None,
) -> None:
    plan = plan_of(journal, window, go_on=go_on, agent=agent)
    if plan is None:
        return
    summary = Compacted(1, "short", plan.first_kept_seq, agent=agent)
    short = [*journal, Entry(journal[-1].seq + 1, TS, summary)]

    before = build_messages(journal, agent=agent)
    after = build_messages(short, agent=agent)

    assert_valid(after)
    assert f"{SUMMARY}short" in texts(after)
    calls = [part for each in after for part in each.parts if isinstance(part, ToolUse)]
    results = [part for each in after for part in each.parts if isinstance(part, ToolOutput)]
    assert len(calls) == len(results)
    assert len(calls) <= sum(isinstance(p, ToolUse) for each in before for p in each.parts)
    for end in range(len(short) + 1):
        assert_valid(build_messages(short[:end], agent=agent))
    asking = [*short, Entry(journal[-1].seq + 2, TS, asked(9, "go on", agent=agent))]
    messages = build_messages(asking, agent=agent)
    assert_valid(messages)
    assert messages[-1].parts[-1] == Text("go on")
    question = _last_question(journal, agent)
    assert all(part in _all_parts(after) for part in question if part.text.strip())


def _last_question(journal: list[Entry], agent: str | None) -> list[Text]:
    said_ = [
        each.record
        for each in journal
        if isinstance(each.record, UserMessage) and each.record.agent == agent
    ]
    content = said_[-1].content if said_ else ()
    return [part for part in content if isinstance(part, Text)]


def _all_parts(messages: tuple[Message, ...]) -> list[object]:
    return [part for each in messages for part in each.parts]
