"""Where a conversation is seen; and the screen that shows only its problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TextIO

from runtimes.chantry.shown import Problem

if TYPE_CHECKING:
    from runtimes.chantry.shown import Shown


class Screen(Protocol):
    """Where a conversation is seen."""

    def show(self, item: Shown) -> None:
        """Take something to be seen; it may appear at the next `flush` only."""
        ...

    def ask(self, prompt: str) -> None:
        """Put ``prompt`` before what will be typed; empty: nothing is asked any more."""
        ...

    def answered(self) -> None:
        """Note that a line was typed, so that the cursor stands on the next one."""
        ...

    def flush(self) -> None:
        """Bring the screen up to date."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was."""
        ...


class SilentScreen:
    """Shows problems only: stdout belongs to the wire."""

    def __init__(self, errors: TextIO) -> None:
        self._errors = errors

    def show(self, item: Shown) -> None:
        """Print a problem; pass over the rest."""
        if isinstance(item, Problem):
            self._errors.write(item.text + "\n")

    def ask(self, prompt: str) -> None:
        """Nobody is asked."""

    def answered(self) -> None:
        """Nobody answers."""

    def flush(self) -> None:
        """Let the problems out."""
        self._errors.flush()

    def close(self) -> None:
        """Nothing to leave."""
