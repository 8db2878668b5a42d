"""Any prefix of any journal makes a request that providers take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from runtimes.models.answer import Answer
from runtimes.models.base import (
    Image,
    Kept,
    Message,
    Reasoning,
    Text,
    ToolOutput,
    ToolUse,
)
from runtimes.radian.healing import NO_RESULT, heal
from runtimes.radian.message_building import (
    BEGINNING_MISSING,
    IMAGE_MISSING,
    NO_OUTPUT,
    SUMMARY,
    TURN_INTERRUPTED,
)
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    ImageFile,
    Resource,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.transcript import Transcript, build_messages, from_answer
from tests.runtimes.radian.journals import (
    JOURNALS,
    asked,
    called,
    entries,
    result,
    said,
    turn,
)

if TYPE_CHECKING:
    from runtimes.radian.records import Entry


def user(*parts: Any) -> Message:
    return Message("user", tuple(Text(each) if isinstance(each, str) else each for each in parts))


def assistant(*parts: Any) -> Message:
    return Message(
        "assistant", tuple(Text(each) if isinstance(each, str) else each for each in parts)
    )


def use(call_id: str) -> ToolUse:
    return ToolUse(call_id, "read", '{"path":"a.txt"}')


def assert_valid(messages: tuple[Message, ...]) -> None:
    """Judge as the strictest provider does."""
    assert [each.role for each in messages] == [
        ("user", "assistant")[at % 2] for at in range(len(messages))
    ]
    used: list[str] = []
    awaited: list[str] = []
    for message in messages:
        assert message.parts
        blank = [each for each in message.parts if isinstance(each, Text | Reasoning)]
        assert all(each.text.strip() for each in blank)
        outputs = [each.call_id for each in message.parts if isinstance(each, ToolOutput)]
        assert outputs == awaited
        assert all(isinstance(each, ToolOutput) for each in message.parts[: len(outputs)])
        awaited = [each.call_id for each in message.parts if isinstance(each, ToolUse)]
        assert message.role == "assistant" or not awaited
        used += awaited
    assert not awaited
    assert len(used) == len(set(used))


@given(JOURNALS)
def test_any_prefix_of_any_journal_builds_a_valid_request(journal: list[Entry]) -> None:
    for end in range(len(journal) + 1):
        before = journal[:end]
        asking = entries(*(each.record for each in before), asked(9, "go on"))

        assert_valid(build_messages(before))
        messages = build_messages(asking)
        assert_valid(messages)
        assert messages[-1].role == "user"
        assert messages[-1].parts[-1] == Text("go on")
        assert_valid(build_messages(before, agent="c1"))


@given(JOURNALS)
def test_a_conversation_that_grows_is_what_it_is_when_built_at_once(journal: list[Entry]) -> None:
    transcript = Transcript()
    for end, entry in enumerate(journal, 1):
        transcript.add([entry])

        assert transcript.messages() == build_messages(journal[:end])


@given(JOURNALS)
def test_healed_records_have_one_result_for_each_call(journal: list[Entry]) -> None:
    healed = list(heal(journal))

    calls = sum(
        isinstance(part, ToolCall)
        for each in healed
        if isinstance(each.record, AssistantMessage) and not each.record.superseded
        for part in each.record.parts
    )
    assert sum(isinstance(each.record, ToolResult) for each in healed) == calls
    assert list(heal(healed)) == healed


def test_a_turn_with_tools_is_sent_in_the_order_of_the_calls() -> None:
    journal = entries(
        TurnStarted(1, "prompt"),
        asked(1, "look"),
        called(1, "a", "b"),
        result(1, "b", "B"),
        result(1, "a", "A", status="failed"),
        said(1, "seen", call=2),
    )

    assert build_messages(journal) == (
        user("look"),
        assistant(use("a"), use("b")),
        user(ToolOutput("a", "A", failed=True), ToolOutput("b", "B")),
        assistant("seen"),
    )


def test_a_call_without_a_result_gets_one_that_says_interrupted() -> None:
    journal = entries(asked(1, "look"), called(1, "a", "b"), result(1, "a"), *turn(2, "more", "ok"))

    assert build_messages(journal)[2] == user(
        ToolOutput("a", "done"), ToolOutput("b", NO_RESULT, failed=True), "more"
    )


def test_a_result_without_a_call_and_a_second_result_are_left_out() -> None:
    journal = entries(
        asked(1, "look"), result(1, "z"), called(1, "a"), result(1, "a", "1"), result(1, "a", "2")
    )

    assert build_messages(journal) == (
        user("look"),
        assistant(use("a")),
        user(ToolOutput("a", "1")),
    )


def test_ids_that_a_server_uses_again_are_told_apart() -> None:
    journal = entries(
        asked(1, "x"),
        called(1, "c", "c"),
        result(1, "c", "1"),
        result(1, "c", "2"),
        called(1, "c", call=2),
        result(1, "c", "3"),
    )

    messages = build_messages(journal)

    assert messages[1] == assistant(use("c"), use("c-2"))
    assert messages[2] == user(ToolOutput("c", "1"), ToolOutput("c-2", "2"))
    assert messages[4] == user(ToolOutput("c-3", "3"))


def test_of_an_answer_that_was_cut_only_the_text_is_sent() -> None:
    parts = (Reasoning("hm"), Kept({"from": "x"}), Text("Half an"), ToolCall("c", "read", {}))
    journal = entries(
        TurnStarted(1, "prompt"),
        asked(1, "x"),
        AssistantMessage(1, 1, parts, "cancelled", partial=True),
        TurnEnded(1, "Interrupted"),
        *turn(2, "again", "ok"),
    )

    assert build_messages(journal) == (
        user("x"),
        assistant("Half an"),
        user(TURN_INTERRUPTED, "again"),
        assistant("ok"),
    )


def test_a_turn_that_a_crash_ended_counts_as_interrupted() -> None:
    journal = entries(TurnStarted(1, "prompt"), asked(1, "x"), *turn(2, "again", "ok"))

    assert build_messages(journal)[0] == user("x", TURN_INTERRUPTED, "again")


def test_pieces_of_an_answer_that_was_cut_off_are_one() -> None:
    journal = entries(
        asked(1, "x"),
        said(1, "one ", finish="length"),
        said(1, "\n", call=2, finish="length", continues=True),
        said(1, "two", call=3, continues=True),
    )

    assert build_messages(journal) == (user("x"), assistant("one \ntwo"))


def test_an_attempt_that_another_one_replaced_is_left_out() -> None:
    journal = entries(asked(1, "x"), called(1, "a", superseded=True), said(1, "ok", call=2))

    assert build_messages(journal) == (user("x"), assistant("ok"))


def test_a_thought_that_led_to_nothing_is_left_out_but_in_a_pause() -> None:
    thought = (Reasoning("hm"),)
    stopped = entries(asked(1, "x"), AssistantMessage(1, 1, thought, "length"), asked(2, "y"))
    paused = entries(asked(1, "x"), AssistantMessage(1, 1, thought, "pause"))

    assert build_messages(stopped) == (user("x", "y"),)
    assert build_messages(paused) == (user("x"), assistant(*thought))


def test_after_a_compaction_the_summary_and_what_was_kept_are_sent() -> None:
    journal = entries(
        *turn(1, "old", "ancient"),
        TurnStarted(2, "prompt"),
        asked(2, "new"),
        called(2, "a"),
        result(2, "a", "A"),
        Compacted(2, "they spoke", first_kept_seq=7),
        said(2, "on it", call=2),
    )

    assert build_messages(journal) == (
        user("new", SUMMARY + "they spoke"),
        assistant(use("a")),
        user(ToolOutput("a", "A")),
        assistant("on it"),
    )


def test_the_last_compaction_counts_and_cuts_between_call_and_result() -> None:
    journal = entries(
        asked(1, "x"),
        called(1, "a"),
        Compacted(1, "first", first_kept_seq=1),
        result(1, "a"),
        Compacted(1, "second", first_kept_seq=4),
        asked(2, "y"),
    )

    assert build_messages(journal) == (user("x", SUMMARY + "second", "y"),)


def test_only_the_persons_last_message_is_kept_beside_a_summary() -> None:
    journal = entries(
        *turn(1, "old", "ancient"),
        asked(2, "new"),
        asked(2, "a job ended", source="job"),
        said(2, "done"),
        Compacted(2, "they spoke", first_kept_seq=9),
        asked(3, "newer"),
    )

    assert build_messages(journal) == (user("new", SUMMARY + "they spoke", "newer"),)


def test_a_subagent_has_a_conversation_of_its_own() -> None:
    journal = entries(
        asked(1, "x"),
        called(1, "sub"),
        asked(1, "task", agent="sub"),
        called(1, "a", agent="sub"),
        result(1, "a", "A", agent="sub"),
        said(1, "found", agent="sub"),
        result(1, "sub", "found"),
    )

    assert build_messages(journal) == (
        user("x"),
        assistant(use("sub")),
        user(ToolOutput("sub", "found")),
    )
    assert build_messages(journal, agent="sub") == (
        user("task"),
        assistant(use("a")),
        user(ToolOutput("a", "A")),
        assistant("found"),
    )


def test_pictures_and_resources_become_what_a_model_takes() -> None:
    there, gone = ImageFile("aa", "image/png"), ImageFile("bb", "image/png")
    content = (
        there,
        gone,
        Resource("file:///a", "a"),
        Resource("file:///b"),
        Resource("file:///c", "c", "inside"),
    )

    (message,) = build_messages(entries(UserMessage(1, content)), images={there: "cGlj"}.get)

    assert message == user(
        Image("image/png", "cGlj"),
        IMAGE_MISSING,
        "a: file:///a",
        "file:///b",
        '<resource uri="file:///c">\ninside\n</resource>',
    )


def test_a_tool_that_printed_nothing_says_so() -> None:
    journal = entries(asked(1, "x"), called(1, "a"), result(1, "a", " \n"))

    assert build_messages(journal)[-1] == user(ToolOutput("a", NO_OUTPUT))


def test_a_conversation_that_lost_its_beginning_begins_with_a_remark() -> None:
    assert build_messages(entries(said(1, "hi"))) == (user(BEGINNING_MISSING), assistant("hi"))


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_blank_text_is_not_sent(blank: str) -> None:
    assert build_messages(entries(asked(1, "x"), said(1, blank), asked(2, blank))) == (user("x"),)


def test_an_answer_is_recorded_with_parsed_arguments() -> None:
    answer = Answer((Text("a"), ToolUse("c", "read", '{"b": [1]}'), Kept({"s": "x"})), "tools")

    assert from_answer(answer.parts) == (
        Text("a"),
        ToolCall("c", "read", {"b": [1]}),
        Kept({"s": "x"}),
    )
