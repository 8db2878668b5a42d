"""Three ways to show a conversation: on a terminal, as plain lines, not at all.

On a terminal the board of the turn stays at the bottom and is drawn again as it fills in, while the
agent's text scrolls by above it.  Plain lines show each change of a row once, in order.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from runtimes.chantry.shown import Changed, Note, Problem, Prompted, Question, Said, TurnOver
from runtimes.chantry.text import Lines, clip, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runtimes.chantry.board import Board, Row
    from runtimes.chantry.marks import Look
    from runtimes.chantry.shown import Shown, Voice

_WIDE: Final = 10_000
"""Columns of a plain line: whoever reads a file has room."""
_ERASE_BELOW: Final = "\x1b[J"
_ERASE_LINE: Final = "\r\x1b[K"


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


class _Composer:
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


class PlainScreen:
    """Lines in the order in which things happen; for pipes, files and dumb terminals."""

    def __init__(self, out: TextIO, errors: TextIO, look: Look, clock: Callable[[], float]) -> None:
        self._out = out
        self._errors = errors
        self._composer = _Composer(look, clock)

    def show(self, item: Shown) -> None:
        """Print an item; text waits for the end of its line."""
        composer = self._composer
        if isinstance(item, Said):
            self._print(composer.said(item))
            return
        self._print(composer.end_line())
        match item:
            case Problem(text):
                self._out.flush()
                self._errors.write(text + "\n")
                self._errors.flush()
            case Changed(_, rows):
                self._print(composer.rows(rows, _WIDE))
            case TurnOver(_, stopped, _):
                self._print(composer.rows(stopped, _WIDE) + composer.plain(item))
            case _:
                self._print(composer.plain(item))

    def ask(self, prompt: str) -> None:
        """Print ``prompt`` and stay on its line."""
        self._print(self._composer.end_line())
        self._out.write(prompt)

    def answered(self) -> None:
        """The answer came with its line end."""

    def flush(self) -> None:
        """Let the lines out."""
        self._out.flush()

    def close(self) -> None:
        """Let the last line out, finished or not."""
        self._print(self._composer.end_line())
        self._out.flush()

    def _print(self, lines: list[str]) -> None:
        for line in lines:
            self._out.write(line + "\n")


class LiveScreen:
    """A terminal whose last lines are drawn again at each `flush`."""

    def __init__(self, out: TextIO, errors: TextIO, look: Look, clock: Callable[[], float]) -> None:
        self._out = out
        self._errors = errors
        self._composer = _Composer(look, clock)
        self._scrolling: list[str] = []
        """Finished lines that are still to be printed above the board."""
        self._board: Board | None = None
        self._drawn = 0
        """Lines of the board on the screen, right above the cursor."""
        self._left: list[str] = []
        """The board as it was left standing above a prompt; drawn again only when it differs."""
        self._prompt = ""
        self._question: list[str] = []

    def show(self, item: Shown) -> None:
        """Take an item; it is seen at the next `flush`."""
        composer = self._composer
        match item:
            case Said():
                self._scrolling += composer.said(item)
            case Problem(text):
                self._scrolling += composer.end_line()
                self._complain(text)
            case Changed(board, _):
                self._board = board
            case Question():
                self._question = composer.plain(item)
            case TurnOver(board, _, _):
                self._scrolling += composer.end_line()
                self._scrolling += composer.rows(board.rows, self._size()[0])
                self._scrolling += composer.plain(item)
                self._board = None
            case _:
                self._scrolling += composer.end_line() + composer.plain(item)

    def ask(self, prompt: str) -> None:
        """Put ``prompt`` below everything, where the user types."""
        if self._prompt:
            self._out.write(_ERASE_LINE)
            self._prompt = ""
        self.flush()
        # The board stays where it is: what is typed moves the cursor, and we can't follow it.
        self._drawn = 0
        self._prompt = prompt
        self._out.write("".join(line + "\n" for line in self._question) + prompt)
        self._out.flush()
        self._question = []

    def answered(self) -> None:
        """Go on drawing: the typed line end has moved the cursor below the answer."""
        self._prompt = ""

    def flush(self) -> None:
        """Print what has come and draw the board below it, in one write."""
        if self._prompt:
            self._print_above_the_prompt()
            return
        width, height = self._size()
        region = self._region(width, height)
        if region == self._left and not self._drawn:
            region = []
        else:
            self._left = region
        above = f"\x1b[{self._drawn}A" if self._drawn else ""
        text = "".join(line + "\n" for line in [*self._scrolling, *region])
        if text or self._drawn:
            self._out.write(f"{above}\r{_ERASE_BELOW}{text}")
            self._out.flush()
        self._scrolling.clear()
        self._drawn = len(region)

    def close(self) -> None:
        """Print what is left and leave the cursor below it."""
        if self._prompt:
            self._out.write("\n")
            self._prompt = ""
        self._board = None
        self._scrolling += self._composer.end_line()
        self.flush()

    def _print_above_the_prompt(self) -> None:
        if self._scrolling:
            text = "".join(line + "\n" for line in self._scrolling)
            self._out.write(f"{_ERASE_LINE}{text}{self._prompt}")
            self._out.flush()
            self._scrolling.clear()

    def _complain(self, text: str) -> None:
        """Write to stderr, which may be this terminal: the board makes room and comes back."""
        board, self._board = self._board, None
        self.flush()
        self._board = board
        self._errors.write(text + "\n")
        self._errors.flush()

    def _region(self, width: int, height: int) -> list[str]:
        rows = self._board.rows if self._board else []
        held = self._composer.held
        lines = self._composer.rows(rows, width)
        room = max(height - 2 - bool(held), 1)
        return ([clip(held, width)] if held else []) + _window(lines, rows, room)

    def _size(self) -> tuple[int, int]:
        size = shutil.get_terminal_size()
        # A line that fills the last column may or may not wrap: terminals differ.
        return max(size.columns - 1, 1), size.lines


def _window(lines: list[str], rows: Sequence[Row], room: int) -> list[str]:
    """Choose what to show of a board that is higher than the screen: where things happen."""
    if len(lines) <= room:
        return lines
    going_on = [place for place, row in enumerate(rows) if row.state == "running"]
    not_begun = [place for place, row in enumerate(rows) if row.state == "pending"]
    focus = (going_on or not_begun or [len(lines)])[0]
    shown = max(room - 2, 1)
    first = max(0, min(focus - shown // 2, len(lines) - shown))
    below = len(lines) - first - shown
    return [f"  … {first} above", *lines[first : first + shown], f"  … {below} below"]
