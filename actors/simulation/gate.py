"""The real gate with a book kept beside it: what was accepted, and when."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from actors.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.faults import Faults
    from actors.platform import Platform
    from actors.simulation.book import Book


class _Accepted(deque[bytes]):
    """The gate's queue; what is appended to it has been accepted."""

    def __init__(self, book: Book) -> None:
        super().__init__()
        self._book = book

    def extend(self, frames: Iterable[bytes], /) -> None:
        """Note the frames, and append them."""
        for frame in frames:
            self._book.accepted(frame)
            super().append(frame)


class WatchedGate(Gate):
    """A gate whose every acceptance is in the book."""

    def __init__(self, platform: Platform, faults: Faults, book: Book) -> None:
        """Make an open gate."""
        super().__init__(platform, faults)
        self._queue = _Accepted(book)
