"""A turn with subagents, driven by hand in any order of events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.turn import CancelAsked, MachineFailed
from runtimes.models.base import CallFailed, ToolOutput, ToolUse
from runtimes.radian import events
from runtimes.radian.fold import fold_turn
from runtimes.radian.permission_questions import ClientAsker
from runtimes.radian.records import (
    AssistantMessage,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from runtimes.radian.subagent import NOTHING_SAID, outcome_of
from runtimes.radian.tool_round import MAX_SUBAGENTS
from runtimes.radian.transcript import Transcript, build_messages
from runtimes.radian.turn_state import Limits
from tests.runtimes.radian.by_hand import (
    MICROS,
    Hands,
    Model,
    answers,
    calls,
    desk_of,
    first_text,
    outputs,
    says,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtimes.models.base import ModelEvent, ModelRequest
    from runtimes.radian.records import Entry


def task(prompt: str, name: str = "subagent") -> tuple[str, str]:
    return name, json.dumps({"prompt": prompt})


def looks(at: str, name: str = "look") -> tuple[str, str]:
    return name, json.dumps({"at": at})


def model_with(*lengths: int, tool: str = "look") -> Model:
    """One task for each length: so many calls of a tool, and then a report."""

    def answer(request: ModelRequest) -> list[ModelEvent]:
        asked, done = first_text(request), answers(request.messages)
        if asked == "go":
            return says("all done") if done else calls(*map(task, map(str, range(len(lengths)))))
        if done < lengths[int(asked)]:
            return calls(looks(f"{asked}.{done}", tool))
        return says(f"report {asked}")

    return Model(answer)


LENGTHS = st.lists(st.integers(0, 3), min_size=1, max_size=6)


def chooser(data: st.DataObject) -> Callable[[list[str]], str]:
    return lambda names: data.draw(st.sampled_from(names))


def own(entries: list[Entry], kind: type) -> list[Any]:
    return [each.record for each in entries if isinstance(each.record, kind)]


@given(LENGTHS, st.data())
def test_subagents_report_in_the_order_of_their_calls_whatever_ends_first(
    lengths: list[int], data: st.DataObject
) -> None:
    model = model_with(*lengths)
    hands = Hands(desk_of(model))

    outcome = hands.run(chooser(data))

    (last,) = [each for each in model.requests if first_text(each) == "go"][1:]
    assert outputs(last) == [f"report {at}" for at in range(len(lengths))]
    assert len(last.messages) == 3
    assert outcome.fold.text == "all done"
    metrics = outcome.fold.metrics
    spent = len(lengths) + sum(lengths)
    assert (metrics.model_calls, metrics.subagent_calls) == (2, len(lengths))
    assert metrics.subagent_model_calls == spent == len(model.requests) - 2
    assert outcome.fold.cost is not None
    assert outcome.fold.cost.micros == MICROS * (spent + 2)
    assert [each.seq for each in hands.desk.entries] == [*range(1, len(hands.desk.entries) + 1)]
    assert outcome.fold == fold_turn(hands.desk.entries, 1)


@given(LENGTHS, st.data())
def test_each_subagent_has_only_its_own_conversation(
    lengths: list[int], data: st.DataObject
) -> None:
    model = model_with(*lengths)
    hands = Hands(desk_of(model))

    hands.run(chooser(data))

    for request in model.requests:
        asked, done = first_text(request), answers(request.messages)
        mine = asked != "go"
        assert len(request.messages) == 2 * done + 1
        assert request.system.startswith("system")
        assert ("subagent" in request.system) == mine
        assert ("subagent" in {each.name for each in request.tools}) != mine
        if mine and done:
            assert outputs(request) == [f"seen {asked}.{done - 1}"]
    begun = [each for each in own(hands.desk.entries, TurnStarted) if each.origin == "subagent"]
    assert len({each.agent for each in begun}) == len(lengths)
    for each in begun:
        talk = build_messages(hands.desk.entries, agent=each.agent)
        assert talk[-1].role == "assistant"


@given(LENGTHS, st.data())
def test_only_a_few_work_side_by_side(lengths: list[int], data: st.DataObject) -> None:
    model = model_with(*lengths)
    hands = Hands(desk_of(model))

    def choose(names: list[str]) -> str:
        begun = own(hands.desk.entries, TurnStarted)
        ended = own(hands.desk.entries, TurnEnded)
        assert len(begun) - 1 - len(ended) <= MAX_SUBAGENTS
        return data.draw(st.sampled_from(names))

    hands.run(choose)


@given(LENGTHS, st.data(), st.integers(1, 12))
def test_the_calls_of_a_turn_are_counted_exactly_wherever_they_are_made(
    lengths: list[int], data: st.DataObject, limit: int
) -> None:
    model = model_with(*lengths)

    outcome = Hands(desk_of(model, Limits(model_calls=limit))).run(chooser(data))

    wanted = 2 + len(lengths) + sum(lengths)
    assert len(model.requests) == min(limit, wanted)
    assert (outcome.fold.end.reason == "model_calls") == (limit < wanted)


@given(LENGTHS, st.data(), st.integers(0, 40))
def test_a_cancel_at_any_moment_ends_all_of_it(
    lengths: list[int], data: st.DataObject, after: int
) -> None:
    hands = Hands(desk_of(model_with(*lengths)))
    choose = chooser(data)
    ended: list[str] = []
    for _ in range(after):
        if hands.outcome is None:
            ended.append(choose(list(hands.running)))
            hands.end_one(ended[-1])
    if hands.outcome is not None:
        return

    entries = hands.desk.entries
    closing = "t1.call2" in ended  # the last answer goes to the journal with the turn's end

    hands.feed(CancelAsked("client"))
    outcome = hands.run(choose)

    assert outcome.fold.end.end == ("Completed" if closing else "Interrupted")
    assert not hands.running
    assert entries[-1].record == outcome.fold.end
    begun = {each.agent for each in own(entries, TurnStarted)}
    assert {each.agent for each in own(entries, TurnEnded)} == begun


@given(LENGTHS, st.data())
def test_any_prefix_of_the_journal_builds_valid_requests(
    lengths: list[int], data: st.DataObject
) -> None:
    hands = Hands(desk_of(model_with(*lengths)))
    hands.run(chooser(data))
    entries = hands.desk.entries
    agents = {each.agent for each in own(entries, TurnStarted)}

    prefix = entries[: data.draw(st.integers(2, len(entries)))]

    for agent in agents:
        messages = build_messages(prefix, agent=agent)
        for at, message in enumerate(messages):
            assert message.role == ("assistant" if at % 2 else "user")
            used = [each.call_id for each in message.parts if isinstance(each, ToolUse)]
            if used:
                answered = [e.call_id for e in messages[at + 1].parts if isinstance(e, ToolOutput)]
                assert answered == used


@given(st.lists(st.integers(1, 2), min_size=2, max_size=4), st.data())
def test_people_get_one_question_at_a_time_with_the_subagent_named(
    lengths: list[int], data: st.DataObject
) -> None:
    asker = ClientAsker()
    hands = Hands(desk_of(model_with(*lengths, tool="fetch"), asker=asker))
    asked = 0
    while hands.outcome is None:
        assert len(hands.asked) <= 1
        key = data.draw(st.sampled_from([*hands.running, *hands.asked]))
        if key not in hands.asked:
            hands.end_one(key)
            continue
        asked += 1
        call = hands.asked[key].params["toolCall"]
        shown = [each for each in hands.said if isinstance(each, events.ToolCall) and each.agent]
        assert call["toolCallId"] in {each.call_id for each in shown}
        assert call["title"].startswith("subagent (")
        option = data.draw(st.sampled_from(["allow_once", "reject_once"]))
        hands.reply(key, {"outcome": {"outcome": "selected", "optionId": option}})

    assert asked == sum(lengths)
    surfaced = {each.call_id for each in hands.said if isinstance(each, events.ToolCall)}
    closed = [each.call_id for each in hands.said if isinstance(each, events.ToolResult)]
    assert sorted(closed) == sorted(surfaced)


def test_a_cancelled_question_of_a_subagent_cancels_the_turn() -> None:
    hands = Hands(desk_of(model_with(1, 1, tool="fetch"), asker=ClientAsker()))
    while not hands.asked:
        hands.end_one(next(iter(hands.running)))

    hands.reply(next(iter(hands.asked)), {"outcome": {"outcome": "cancelled"}})
    outcome = hands.run()

    assert outcome.fold.end.end == "Interrupted"
    assert not hands.asked
    results = [each for each in own(hands.desk.entries, ToolResult) if each.agent is None]
    assert [each.reason for each in results] == ["interrupted", "interrupted"]


def test_nobody_to_ask_is_a_denial_within_the_subagent() -> None:
    hands = Hands(desk_of(model_with(1, tool="fetch")))

    outcome = hands.run()

    assert outcome.fold.end.end == "Completed"
    (denied,) = [each for each in own(hands.desk.entries, ToolResult) if each.agent is not None]
    assert denied.reason == "denied"
    assert outcome.fold.denials == ()


def test_a_subagent_has_no_subagents() -> None:
    def answer(request: ModelRequest) -> list[ModelEvent]:
        done = answers(request.messages)
        if done:
            return says(outputs(request)[0])
        return calls(task("deeper"))

    hands = Hands(desk_of(Model(answer)))

    assert "there is no tool 'subagent'" in hands.run().fold.text


def test_a_model_that_fails_in_a_subagent_fails_only_that_call() -> None:
    def answer(request: ModelRequest) -> list[ModelEvent]:
        if first_text(request) != "go":
            return [CallFailed("the key was refused", 401, origin="credential")]
        return says(outputs(request)[0]) if answers(request.messages) else calls(task("x"))

    outcome = Hands(desk_of(Model(answer))).run()

    assert outcome.fold.end.end == "Completed"
    assert outcome.fold.text == "the subagent failed: the key was refused"
    assert outcome.fold.metrics.tool_failures == 1


def test_progress_is_told_as_output_of_the_call_and_nothing_else_of_it() -> None:
    hands = Hands(desk_of(model_with(1)))

    hands.run()

    (call,) = [each for each in hands.said if isinstance(each, events.ToolCall)]
    pieces = [each for each in hands.said if isinstance(each, events.ToolOutput)]
    assert {each.call_id for each in pieces} == {call.call_id}
    assert "".join(each.delta for each in pieces) == "> look: 0.0\nreport 0\n"
    texts = [each.delta for each in hands.said if isinstance(each, events.Text)]
    assert "".join(texts) == "all done"
    assert sum(isinstance(each, events.Usage) for each in hands.said) == 2


def test_a_journal_that_is_full_ends_the_turn_with_its_subagents() -> None:
    hands = Hands(desk_of(model_with(3, 3)))
    book: Any = hands.desk.journal
    while len(own(hands.desk.entries, AssistantMessage)) < 4:
        hands.end_one(next(iter(hands.running)))

    book.full = True
    outcome = hands.run()

    assert not outcome.journaled
    assert outcome.fold.end.error == "no space left"


def test_a_fault_of_ours_ends_the_turn_with_its_subagents() -> None:
    hands = Hands(desk_of(model_with(3, 3)))
    while len(own(hands.desk.entries, AssistantMessage)) < 4:
        hands.end_one(next(iter(hands.running)))

    hands.feed(MachineFailed())
    outcome = hands.run()

    assert outcome.fold.end.end == "Failed"


@pytest.mark.parametrize(
    ("end", "text", "output", "reason"),
    [
        (TurnEnded(1, "Completed"), " found \n", "found", None),
        (TurnEnded(1, "Completed"), "", NOTHING_SAID, None),
        (TurnEnded(1, "Interrupted"), "", "interrupted", "interrupted"),
        (
            TurnEnded(1, "Incomplete", "cost", error="no money"),
            "half",
            "the subagent did not finish: cost (no money)\n\nIts last words:\n\nhalf",
            "cost",
        ),
        (TurnEnded(1, "Failed", error="busy"), "", "the subagent failed: busy", "busy"),
    ],
)
def test_an_end_is_a_result(end: TurnEnded, text: str, output: str, reason: str | None) -> None:
    outcome = outcome_of(end, text)

    assert (outcome.output, outcome.failed, outcome.reason) == (
        output,
        reason is not None,
        reason,
    )


def test_a_long_report_is_shortened() -> None:
    outcome = outcome_of(TurnEnded(1, "Completed"), "x" * 100_000)

    assert len(outcome.output) < 33 * 1024
    assert "left out" in outcome.output


def test_a_subagent_knows_nothing_of_the_conversation_and_leaves_it_as_it_is() -> None:
    desk = desk_of(model_with(1)).model
    desk._known = known = Transcript()
    desk._count, desk._heard = 3, [heard := object()]

    own = desk.for_agent("sub-1", "other", desk.tools)

    assert (own.agent, own.system, own._known, own._count, own._heard) == (
        "sub-1",
        "other",
        None,
        0,
        [],
    )
    assert (desk.agent, desk._known, desk._count, desk._heard) == (None, known, 3, [heard])
