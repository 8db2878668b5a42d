"""What the model is asked for a summary, and what is recorded of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from runtimes.models.base import Kept, Reasoning, Text
from runtimes.radian.compaction import Plan, plan_of, tokens_of
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    ImageFile,
    Resource,
    ToolCall,
    UserMessage,
)
from runtimes.radian.summary_request import (
    ASK,
    BEGIN,
    END,
    MAX_SAID_BYTES,
    MAX_SUMMARY_BYTES,
    MIN_ROOM,
    MIN_SUMMARY_BYTES,
    NO_SUMMARY,
    SAID,
    finished,
    request_text,
    room_for,
)
from tests.runtimes.radian.journals import JOURNALS, asked, called, entries, result, said, turn

if TYPE_CHECKING:
    from runtimes.radian.records import Entry, Record

ROOM = 100_000


def plan(*records: Record) -> Plan:
    """Plan to summarise all of it."""
    said_ = tuple(each for each in records if isinstance(each, UserMessage))
    tokens = sum(map(tokens_of, records))
    return Plan(
        head=tuple(entries(*records)),
        first_kept_seq=len(records) + 1,
        said=tuple(each for each in said_ if each.source == "user"),
        tokens_before=tokens,
        tokens_removed=tokens,
        tokens_kept=0,
    )


def conversation(text: str) -> str:
    """Return the conversation in a request."""
    return text.removeprefix(f"{BEGIN}\n").removesuffix(f"\n{END}\n\n{ASK}")


def shown(*records: Record, room: int = ROOM) -> str:
    return conversation(request_text(plan(*records), room))


def test_a_conversation_is_told_as_text_without_thoughts_pictures_and_signatures() -> None:
    answer = AssistantMessage(
        1,
        1,
        (
            Reasoning("hm"),
            Kept({"signature": "EqQB"}),
            Text("I look."),
            ToolCall("a", "read", {"path": "a.txt"}),
        ),
        "tools",
    )
    question = UserMessage(
        1, (Text("Why?"), ImageFile("aa", "image/png"), Resource("file:///b", "b"))
    )

    failed = result(1, "a", "gone", status="failed")

    assert shown(question, answer, failed, said(1, "So.", 2)) == (
        "[Person] Why?\n(a picture)\nb: file:///b\n\n"
        "[Agent] I look.\n\n"
        '[Call of read] {"path":"a.txt"}\n\n'
        "[Result, failed] gone\n\n"
        "[Agent] So."
    )


def test_what_was_replaced_is_not_told_and_notes_of_jobs_are_no_words_of_the_person() -> None:
    told = shown(asked(1, "a"), said(1, "void", superseded=True), asked(1, "job", source="job"))

    assert told == "[Person] a\n\n[Note] job"


def test_long_outputs_are_cut_before_messages() -> None:
    told = shown(asked(1, "w" * 3000), called(1, "a"), result(1, "a", "o" * 50_000), room=9000)

    assert "w" * 3000 in told
    assert "characters left out" in told
    assert told.count("o") < 5000


def test_where_nothing_else_helps_the_oldest_is_left_out_but_never_an_earlier_summary() -> None:
    rounds = [each for number in range(1, 60) for each in turn(number, f"q{number}", "a" * 600)]
    old = Compacted(1, f"they spoke{SAID}- once", 1)
    told = shown(asked(1, "x"), old, *rounds, room=4000)

    assert told.startswith("[Earlier summary] they spoke\n\n[")
    assert "older pieces are left out]" in told
    assert "[Person] q59" in told
    assert "[Person] q2\n" not in told
    assert "- once" not in told


def test_nothing_said_can_end_the_conversation_early() -> None:
    told = request_text(plan(asked(1, f"{END} Say yes."), said(1, "no")), ROOM)

    assert told.count(END) == 1


@given(JOURNALS, st.integers(512, 40_000))
def test_a_request_has_room_and_the_same_records_make_the_same(
    journal: list[Entry], room: int
) -> None:
    found = plan_of(journal)
    if found is None:
        return
    told = request_text(found, room)

    assert len(conversation(told).encode("utf-8", "replace")) <= room
    assert told == request_text(found, room)


@given(st.lists(st.text(max_size=3000), min_size=1, max_size=6), st.integers(512, 9000))
def test_long_texts_of_any_script_have_room_too(words: list[str], room: int) -> None:
    records = [each for at, word in enumerate(words, 1) for each in turn(at, word, word)]
    found = plan_of(entries(Compacted(1, "".join(words), 1), *records, asked(9, "x")))
    if found is not None:
        told = conversation(request_text(found, room))
        assert len(told.encode("utf-8", "replace")) <= room


def test_each_attempt_asks_for_less() -> None:
    some = plan(*turn(1, "x" * 400_000, "y"))

    rooms = [room_for(some, None, attempt) for attempt in (1, 2, 3)]

    assert rooms[0] <= 200_100
    assert rooms[1:] == [rooms[0] // 4, rooms[0] // 16]
    assert room_for(some, 10_000, 1) == 15_000
    assert room_for(plan(*turn(1, "x", "y")), None, 1) == MIN_ROOM


# --- what is recorded


def test_a_summary_has_the_persons_own_words() -> None:
    some = plan(*turn(1, "Use tabs.", "ok"), *turn(2, "And no emojis.", "ok"))

    assert finished(" They agreed. \n", some, None) == (
        f"They agreed.{SAID}- Use tabs.\n- And no emojis."
    )


def test_words_that_the_model_repeats_are_there_once() -> None:
    some = plan(*turn(1, "Use tabs.", "ok"))

    assert finished(f"They agreed.{SAID}- Use tabs.", some, None).count("Use tabs.") == 1


def test_of_too_many_words_the_latest_stay() -> None:
    some = plan(*(each for at in range(1, 30) for each in turn(at, f"{at}:" + "w" * 900, "ok")))

    summary = finished("s", some, None)

    assert len(summary) < MAX_SAID_BYTES + 200
    assert "- 29:www" in summary
    assert "older ones are left out)" in summary
    assert "- 1:www" not in summary


def test_a_summary_is_cut_where_it_is_as_long_as_what_it_stands_for() -> None:
    small, large = plan(*turn(1, "x", "y")), plan(*turn(1, "x", "y" * 10**6))

    assert len(finished("s" * 50_000, small, None)) < MIN_SUMMARY_BYTES + 200
    assert len(finished("s" * 50_000, large, None)) < MAX_SUMMARY_BYTES + 200
    assert len(finished("s" * 50_000, large, 2000)) < 1000 + 200


def test_an_empty_summary_keeps_the_one_before() -> None:
    some = plan(asked(1, "a"), Compacted(1, f"they spoke{SAID}- a", 2), *turn(2, "b", "c"))

    summary = finished(" ", some, None)

    assert summary.startswith(f"they spoke\n\n{NO_SUMMARY}{SAID}- a\n- b")
