"""What a subagent leaves in the journal, by values: apart from its turn, and summed up with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from protocol.acp.updates import ToolCall as ShownCall
from protocol.acp.updates import ToolCallUpdate
from runtimes.models.base import Usage
from runtimes.radian.fold import Cost, fold_turn, last_text, turns_of
from runtimes.radian.healing import INTERRUPTED, heal
from runtimes.radian.journal_read import load
from runtimes.radian.records import (
    PermissionDecided,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from runtimes.radian.replay import replay
from runtimes.radian.session_cut import turn_ends
from runtimes.radian.session_export import Export
from runtimes.radian.transcript import build_messages
from tests.runtimes.radian.journals import (
    JOURNALS,
    asked,
    called,
    created,
    entries,
    lines,
    result,
    said,
)

if TYPE_CHECKING:
    from runtimes.radian.records import Entry, Record


def subagent(agent: str, task: str, answer: str) -> tuple[Record, ...]:
    """Return what a subagent that reads one file leaves."""
    own: dict[str, Any] = {"agent": agent}
    return (
        TurnStarted(1, "subagent", **own),
        asked(1, task, **own),
        called(1, f"{agent}-read", usage=Usage(20, 4), cost_micros=3, **own),
        PermissionDecided(1, f"{agent}-read", "allow_once", "profile", **own),
        result(1, f"{agent}-read", "text", **own),
        said(1, answer, 2, usage=Usage(30, 5), cost_micros=4, **own),
        TurnEnded(1, "Completed", wall_ms=9, **own),
    )


FIRST, SECOND = subagent("sub-1", "look at a", "a is fine"), subagent("sub-2", "and b", "b is not")
BEFORE: tuple[Record, ...] = (
    created(),
    TurnStarted(1, "prompt"),
    asked(1, "check both"),
    called(1, "sub-1", "sub-2", usage=Usage(10, 2), cost_micros=1),
)
AFTER: tuple[Record, ...] = (
    result(1, "sub-1", "a is fine", ms=50),
    result(1, "sub-2", "b is not", ms=60),
    said(1, "b is broken", 2, usage=Usage(40, 6), cost_micros=2),
    TurnEnded(1, "Completed", wall_ms=100),
)


@st.composite
def woven(draw: st.DrawFn) -> list[Entry]:
    """A turn with two subagents side by side, in any order that keeps each one's own."""
    left, right, between = list(FIRST), list(SECOND), list[Any]()
    while left or right:
        side = left if left and (not right or draw(st.booleans())) else right
        between.append(side.pop(0))
    return entries(*BEFORE, *between, *AFTER)


@given(woven())
def test_the_order_of_what_ran_side_by_side_changes_nothing(journal: list[Entry]) -> None:
    plain = entries(*BEFORE, *FIRST, *SECOND, *AFTER)

    assert build_messages(journal) == build_messages(plain)
    for agent in ("sub-1", "sub-2"):
        assert build_messages(journal, agent=agent) == build_messages(plain, agent=agent)
    assert fold_turn(journal, 1) == fold_turn(plain, 1)


@given(woven(), st.data())
def test_any_prefix_builds_the_requests_of_all_conversations(
    journal: list[Entry], data: st.DataObject
) -> None:
    prefix = journal[: data.draw(st.integers(2, len(journal)))]

    for agent in (None, "sub-1", "sub-2"):
        messages = build_messages(prefix, agent=agent)
        roles = [each.role for each in messages]
        assert roles == ["user", "assistant", "user", "assistant"][: len(roles)]
    said_by_it = {"look at a", "and b", "sub-1-read", "sub-2-read", "text"}
    assert not said_by_it & set(_words(build_messages(prefix)))


def _words(messages: Any) -> list[str]:
    parts = [part for message in messages for part in message.parts]
    return [
        getattr(part, name, "") for part in parts for name in ("text", "call_id", "name", "output")
    ]


def test_a_turn_that_died_in_a_subagent_lost_only_that_call() -> None:
    cut = entries(*BEFORE, *FIRST[:4])

    healed = [each.record for each in heal(cut)]
    failed = [each for each in healed if isinstance(each, ToolResult)]

    assert [(each.agent, each.call_id, each.reason) for each in failed] == [
        (None, "sub-1", INTERRUPTED),
        (None, "sub-2", INTERRUPTED),
        ("sub-1", "sub-1-read", INTERRUPTED),
    ]
    again = entries(*BEFORE, *FIRST[:4], TurnStarted(2, "prompt"), asked(2, "and now?"))
    assert build_messages(again)[:2] == build_messages(cut)[:2]


def test_the_end_of_a_subagent_is_not_the_end_of_its_turn() -> None:
    journal = entries(*BEFORE, *FIRST)

    assert fold_turn(journal, 1).end == TurnEnded(1, "Interrupted")
    assert turn_ends(journal) == {}
    results = [each.record for each in heal(journal) if isinstance(each.record, ToolResult)]
    assert [each.call_id for each in results] == ["sub-1-read", "sub-1", "sub-2"]


def test_what_subagents_spend_is_summed_up_in_their_turn() -> None:
    journal = entries(*BEFORE, *FIRST, *SECOND, *AFTER)

    fold = fold_turn(journal, 1)

    assert (fold.text, fold.cost, turns_of(journal)) == ("b is broken", Cost(17), [1])
    table = fold.metrics.as_table()
    assert table["input_tokens"] == 10 + 40 + 2 * (20 + 30)
    assert table["output_tokens"] == 2 + 6 + 2 * (4 + 5)
    told = ("model_calls", "subagent_calls", "subagent_model_calls", "tool_calls", "tool_ms")
    assert [table[name] for name in told] == [2, 2, 4, 2, 110]
    assert table["context_tokens"] == 46


def test_a_subagent_that_never_called_its_model_counts_as_one() -> None:
    fold = fold_turn(entries(*BEFORE, *FIRST[:2]), 1)

    assert (fold.metrics.subagent_calls, fold.metrics.subagent_model_calls) == (1, None)


def test_the_last_words_of_a_subagent_are_its_own() -> None:
    assert last_text([*FIRST, *SECOND], "sub-1") == "a is fine"
    assert last_text([*FIRST, *SECOND], "sub-3") == ""


@given(JOURNALS)
def test_the_cost_of_turns_adds_up_whatever_belongs_to_subagents(journal: list[Entry]) -> None:
    numbers = [getattr(each.record, "turn", None) for each in journal]
    costs = [fold_turn(journal, each).cost for each in set(numbers) if each is not None]
    known = [
        getattr(each.record, "cost_micros", None) or 0
        for each in journal
        if getattr(each.record, "turn", None) is not None
    ]

    assert sum(each.micros for each in costs if each is not None) == sum(known)


def test_a_replay_shows_the_call_of_a_subagent_and_its_result_alone() -> None:
    journal = entries(*BEFORE, *FIRST, *SECOND[:3])

    updates = list(replay(journal, "/w", {}))

    calls = [each.tool_call_id for each in updates if isinstance(each, ShownCall)]
    ends = [
        (each.tool_call_id, each.status) for each in updates if isinstance(each, ToolCallUpdate)
    ]
    assert calls == ["sub-1", "sub-2"]
    assert ends == [("sub-1", "failed"), ("sub-2", "failed")]


def test_an_export_has_what_a_subagent_did_marked_as_its_own() -> None:
    failed = TurnEnded(1, "Incomplete", "cost", agent="sub-2")
    data = lines([*BEFORE, *FIRST, *SECOND[:-1], failed, *AFTER])
    export = Export(load(data, "j"), data, 99)

    text, table = export.text("markdown"), export.table()

    assert text.count("## Turn") == 1
    assert "### User of subagent sub-1\n\nlook at a\n" in text
    assert "Result of `read` of subagent sub-1 (completed)" in text
    assert "Subagent sub-2 ended: Incomplete (cost)" in text
    (turn,) = table["turns"]
    assert (turn["origin"], turn["end"], turn["text"]) == ("prompt", "Completed", "b is broken")
    kinds = [each["type"] for each in turn["records"] if each.get("agent") == "sub-2"]
    assert (kinds[0], kinds[-1]) == ("TurnStarted", "TurnEnded")
