"""Items turned into finished lines: what the screens that show them share.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chantry.shown import Note, Prompted, Question, Said, TurnOver
from runtimes.chantry.text import Lines, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runtimes.chantry.board import Row
    from runtimes.chantry.marks import Look
    from runtimes.chantry.shown import Voice


class Composer:
    """Turns items into finished lines; what both kinds of screens share."""

    def __init__(self, look: Look, clock: Callable[[], float]) -> None:
        self.look = look
        self.clock = clock
        self._lines = Lines()
        self._voice: Voice = "agent"

    @property
    def held(self) -> str:
        """The agent's unfinished line."""
        return self._voiced(self._lines.held)

    def said(self, item: Said) -> list[str]:
        """Return the lines that a chunk completes."""
        ended = self.end_line() if item.voice != self._voice else []
        self._voice = item.voice
        return ended + [self._voiced(line) for line in self._lines.feed(item.text)]

    def end_line(self) -> list[str]:
        """Return the unfinished line as if it were one."""
        return [self._voiced(line) for line in self._lines.flush()]

    def plain(self, item: Note | Prompted | Question | TurnOver) -> list[str]:
        """Return the lines of an item that is no text of the agent."""
        match item:
            case Note(text):
                return [self.look.paint(f"  {printable(text)}", "dim")]
            case Prompted(text):
                return [self.look.paint(f"> {printable(text)}", "bold")]
            case Question(lines):
                return [printable(line) for line in lines]
            case TurnOver(_, _, outcome):
                return [self.look.paint(f"  turn over: {printable(outcome)}", "dim")]

    def rows(self, rows: Sequence[Row], width: int) -> list[str]:
        """Draw rows."""
        now_s = self.clock()
        return [self.look.row(row, now_s, width) for row in rows]

    def _voiced(self, line: str) -> str:
        if not line or self._voice == "agent":
            return line
        return self.look.paint(f"  {'> ' if self._voice == 'user' else ''}{line}", "dim")
