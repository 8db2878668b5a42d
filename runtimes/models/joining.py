"""Pieces of text that one read brought are one piece: nobody sees them apart.  Pure.

A fast model sends hundreds of pieces in one read, and each piece costs a value, a turn's outlet and
a line of its own.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, cast

from runtimes.models.base import ReasoningDelta, TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runtimes.models.base import ModelEvent

PIECES = (TextDelta, ReasoningDelta)


def joined(events: Sequence[ModelEvent]) -> Iterator[ModelEvent]:
    """Yield ``events`` with neighbouring pieces of one kind joined; the order stays."""
    if len(events) == 1:
        yield events[0]
        return
    for kind, run in groupby(events, type):
        if kind in PIECES:
            pieces = cast("Iterator[TextDelta]", run)
            yield cast("type[TextDelta]", kind)("".join([piece.text for piece in pieces]))
        else:
            yield from run
