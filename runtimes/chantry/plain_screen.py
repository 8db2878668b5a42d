"""The conversation as plain lines: for pipes, files and dumb terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TextIO

from runtimes.chantry.composer import Composer
from runtimes.chantry.shown import Changed, Problem, Said, TurnOver

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtimes.chantry.marks import Look
    from runtimes.chantry.shown import Shown

_WIDE: Final = 10_000
"""Columns of a plain line: whoever reads a file has room."""


class PlainScreen:
    """Lines in the order in which things happen; each change of a row is one."""

    def __init__(self, out: TextIO, errors: TextIO, look: Look, clock: Callable[[], float]) -> None:
        self._out = out
        self._errors = errors
        self._composer = Composer(look, clock)

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
