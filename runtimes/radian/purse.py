"""What a turn has spent: its own calls of the model, and those of its subagents."""

from __future__ import annotations


class Purse:
    """Shared by the conversations of one turn.  Used by one thread at a time."""

    def __init__(self) -> None:
        """Begin with nothing spent."""
        self.calls = 0
        """Calls that were decided; a call counts before it is made."""
        self.micros = 0
        """Of a US dollar, for calls that have a price."""
