"""Pieces that came together are shown together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.models.base import ReasoningDelta, TextDelta, ToolCalled, Usage
from runtimes.models.joining import MAX_JOINED_CHARS, joined

if TYPE_CHECKING:
    from runtimes.models.base import ModelEvent


def test_neighbouring_pieces_of_one_kind_become_one() -> None:
    call = ToolCalled("c1", "read", "{}")
    events: list[ModelEvent] = [
        ReasoningDelta("a"),
        ReasoningDelta("b"),
        TextDelta("c"),
        TextDelta("d"),
        call,
        call,
        TextDelta("e"),
        Usage(1, 1),
    ]

    assert list(joined(events)) == [
        ReasoningDelta("ab"),
        TextDelta("cd"),
        call,
        call,
        TextDelta("e"),
        Usage(1, 1),
    ]


def test_nothing_and_one_piece_stay_as_they_are() -> None:
    assert list(joined([])) == []
    assert list(joined([TextDelta("a")])) == [TextDelta("a")]


def test_a_joined_piece_stays_small() -> None:
    pieces = [TextDelta("x" * 100)] * 100

    got = list(joined(pieces))

    assert "".join(each.text for each in got if isinstance(each, TextDelta)) == "x" * 10_000
    assert (
        max(len(each.text) for each in got if isinstance(each, TextDelta)) < MAX_JOINED_CHARS + 100
    )
