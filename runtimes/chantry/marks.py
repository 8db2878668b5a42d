"""The signs and colours of rows.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from runtimes.chantry.text import cells, clip, duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.chantry.board import Row, State


@dataclass(frozen=True, slots=True)
class Look:
    """How rows are drawn on one kind of screen."""

    marks: Mapping[State, str]
    colours: Mapping[str, str]
    """SGR parameters by state, and for "dim" and "bold"; empty: no colours."""

    def paint(self, text: str, colour: str) -> str:
        """Colour a text, where there are colours."""
        code = self.colours.get(colour)
        return f"\x1b[{code}m{text}\x1b[0m" if code and text else text

    def row(self, row: Row, now_s: float, width: int) -> str:
        """Draw one row on one line of at most ``width`` columns."""
        title = clip(row.title, max(width - _INDENT, 1))
        line = f"  {self.paint(self.marks[row.state], row.state)} {title}"
        tail = clip(_tail(row, now_s), max(width - _INDENT - cells(title) - 2, 0))
        return f"{line}  {self.paint(tail, 'dim')}" if tail else line


_INDENT: Final = 4
"""Columns before a title: two, the mark, one."""


def _tail(row: Row, now_s: float) -> str:
    """What stands behind the title: its hint, how long it took so far, and why it failed."""
    words = [row.hint] if row.hint else []
    if row.took_s is not None and row.took_s >= 0.1:  # noqa: PLR2004 - less is no news
        words.append(duration(row.took_s))
    elif row.state == "running" and row.started_s is not None and now_s - row.started_s >= 1:
        words.append(duration(now_s - row.started_s))
    if row.state in ("skipped", "stopped"):
        words.append(row.state)
    if row.note:
        words.append(row.note)
    return ", ".join(words)


_UNICODE: Final[dict[State, str]] = {
    "pending": "·",
    "running": "▸",
    "done": "✓",
    "failed": "✗",
    "skipped": "-",
    "waiting": "…",
    "stopped": "!",
}
_ASCII: Final[dict[State, str]] = {
    "pending": ".",
    "running": ">",
    "done": "+",
    "failed": "x",
    "skipped": "-",
    "waiting": "?",
    "stopped": "!",
}
_COLOURS: Final = {
    "pending": "2",
    "running": "36",
    "done": "32",
    "failed": "31",
    "skipped": "2",
    "waiting": "33",
    "stopped": "33",
    "dim": "2",
    "bold": "1",
}


def look(*, unicode: bool, colour: bool) -> Look:
    """Choose the signs and colours that a screen can show."""
    return Look(_UNICODE if unicode else _ASCII, _COLOURS if colour else {})
