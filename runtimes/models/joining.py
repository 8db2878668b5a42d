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

MAX_JOINED_CHARS = 1024
"""What waits for a slow reader is counted in pieces, so they may not become large."""


def joined(events: Sequence[ModelEvent]) -> Iterator[ModelEvent]:
    """Yield ``events`` with neighbouring pieces of one kind joined; the order stays."""
    kind: type[TextDelta | ReasoningDelta] = TextDelta
    held: list[str] = []
    chars = 0
    for event in events:
        text = event.text if isinstance(event, TextDelta | ReasoningDelta) else None
        if held and (type(event) is not kind or chars >= MAX_JOINED_CHARS):
            yield kind("".join(held))
            held, chars = [], 0
        if text is None:
            yield event
            continue
        kind = ReasoningDelta if isinstance(event, ReasoningDelta) else TextDelta
        held.append(text)
        chars += len(text)
    if held:
        yield kind("".join(held))
