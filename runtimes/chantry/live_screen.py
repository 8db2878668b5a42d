"""The conversation on a terminal.

The board of the turn stays at the bottom and is drawn again as it fills in, while the agent's text
scrolls by above it. Calls that are over scroll away, too, when the agent goes on to speak: what it
says then comes after them.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final, TextIO

from runtimes.chantry.composer import Composer
from runtimes.chantry.shown import Changed, Problem, Question, Said, TurnOver
from runtimes.chantry.text import cells, clip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runtimes.chantry.board import Board, Row
    from runtimes.chantry.marks import Look
    from runtimes.chantry.shown import Shown

_ERASE_BELOW: Final = "\x1b[J"
_CUT: Final = " (--json shows all)"
_ERASE_LINE: Final = "\r\x1b[K"


class LiveScreen:
    """A terminal whose last lines are drawn again at each `flush`."""

    def __init__(self, out: TextIO, errors: TextIO, look: Look, clock: Callable[[], float]) -> None:
        self._out = out
        self._errors = errors
        self._composer = Composer(look, clock)
        self._scrolling: list[str] = []
        """Finished lines that are still to be printed above the board."""
        self._board: Board | None = None
        self._gone: list[Row] = []
        """Rows of the board that have scrolled away; one that changes comes back."""
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
                self._let_go()
                self._scrolling += map(self._fit, composer.said(item))
            case Problem(text):
                self._scrolling += composer.end_line()
                self._complain(text)
            case Changed(board, rows):
                self._board = board
                self._gone = [row for row in self._gone if not _among(row, rows)]
            case Question():
                # Else the board, which stays above the question, would take it along for good.
                self._scrolling += composer.end_line()
                self._question = composer.plain(item)
            case TurnOver(board, _, _):
                self._scrolling += composer.end_line()
                self._scrolling += composer.rows(self._still_here(board), self._size()[0])
                self._scrolling += composer.plain(item)
                self._board, self._gone = None, []
            case _:
                self._scrolling += composer.end_line() + composer.plain(item)

    def ask(self, prompt: str) -> None:
        """Put ``prompt`` below everything, where the user types."""
        if self._prompt:
            self._out.write(_ERASE_LINE)
            self._prompt = ""
        self.flush()
        if not prompt and not self._question:
            self._out.flush()
            return
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

    def _let_go(self) -> None:
        """Print the calls that are over, if all are, for good."""
        calls = list(self._board.calls.values()) if self._board else []
        over = [row for row in calls if not _among(row, self._gone)]
        if over and all(row.over for row in calls):
            self._scrolling += self._composer.end_line()
            self._scrolling += self._composer.rows(over, self._size()[0])
            self._gone += over

    def _still_here(self, board: Board) -> list[Row]:
        return [row for row in board.rows if not _among(row, self._gone)]

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

    def _fit(self, line: str) -> str:
        """Cut a long line of JSON, which is for programs: it would fill the screen."""
        width = self._size()[0]
        if not line.startswith("{") or cells(line) <= width:
            return line
        return f"{clip(line, width - len(_CUT))}{_CUT}"

    def _region(self, width: int, height: int) -> list[str]:
        rows = self._still_here(self._board) if self._board else []
        held = self._composer.held
        lines = self._composer.rows(rows, width)
        room = max(height - 2 - bool(held), 1)
        return ([clip(held, width)] if held else []) + _window(lines, rows, room)

    def _size(self) -> tuple[int, int]:
        size = shutil.get_terminal_size()
        # A line that fills the last column may or may not wrap: terminals differ.
        return max(size.columns - 1, 1), size.lines


def _among(row: Row, rows: Sequence[Row]) -> bool:
    """Tell whether it is one of them, and not just like one."""
    return any(row is each for each in rows)


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
