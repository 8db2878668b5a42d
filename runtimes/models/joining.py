"""Pieces of text that one read brought are one piece: nobody sees them apart.  Pure.

A fast model sends hundreds of pieces in one read, and each piece costs a value, a turn's outlet and
a line of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.models.base import ReasoningDelta, TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runtimes.models.base import ModelEvent

MAX_JOINED_CHARS = 2048
"""What waits for a slow reader is counted in pieces, so they may not become large."""
PIECES = (TextDelta, ReasoningDelta)


def text_deltas(text: str) -> list[ModelEvent]:
    """Return ``text`` in pieces of that length."""
    return [
        TextDelta(text[at : at + MAX_JOINED_CHARS]) for at in range(0, len(text), MAX_JOINED_CHARS)
    ]


def joined(events: Sequence[ModelEvent]) -> Iterator[ModelEvent]:
    """Yield ``events`` with neighbouring pieces of one kind joined; the order stays."""
    kind: type[TextDelta | ReasoningDelta] = TextDelta
    held: list[str] = []
    chars = 0
    for event in events:
        if held and (type(event) is not kind or chars >= MAX_JOINED_CHARS):
            yield kind("".join(held))
            held, chars = [], 0
        if isinstance(event, PIECES):
            kind = type(event)
            held.append(event.text)
            chars += len(event.text)
        else:
            yield event
    if held:
        yield kind("".join(held))
