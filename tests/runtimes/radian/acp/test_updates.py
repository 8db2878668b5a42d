"""Events of a turn as updates, without a process."""

from __future__ import annotations

from protocol.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ToolCallUpdate,
    ToolText,
    UserMessageChunk,
)
from runtimes.radian import events
from runtimes.radian.updates import TAIL_CHARACTERS, LiveUpdates


def test_pieces_of_one_message_that_come_together_are_one_update() -> None:
    said = [
        events.Reasoning(1, 1, "h"),
        events.Reasoning(1, 1, "m"),
        events.Text(1, 1, "a"),
        events.Text(1, 1, "b"),
        events.Text(1, 2, "c"),
    ]

    assert list(LiveUpdates().of(said)) == [
        AgentThoughtChunk("hm", "1.1-thought"),
        AgentMessageChunk("ab", "1.1"),
        AgentMessageChunk("c", "1.2"),
    ]


def test_what_is_an_update_already_passes_and_what_has_no_word_is_left_out() -> None:
    replayed = UserMessageChunk("hi", "user-1")

    assert list(LiveUpdates().of([events.Job("j1", "running"), replayed])) == [replayed]


def test_output_of_a_command_is_shown_by_its_end() -> None:
    live = LiveUpdates()
    long = "x" * TAIL_CHARACTERS
    (first,) = live.of([events.ToolOutput(1, "c1", "a"), events.ToolOutput(1, "c1", "b")])
    (second,) = live.of([events.ToolOutput(1, "c1", long)])

    assert first == ToolCallUpdate(tool_call_id="c1", content=(ToolText("ab"),))
    assert second == ToolCallUpdate(tool_call_id="c1", content=(ToolText(long),))


def test_a_turn_that_failed_says_why_in_a_thought() -> None:
    (said,) = LiveUpdates().of([events.TurnEnded(3, "Failed", error="no key")])

    assert said == AgentThoughtChunk("The turn failed: no key\n", "3-end")
