"""Foreign text made fit for a terminal.  Pure: no I/O.

What an agent says may hold escape sequences, progress bars and characters two cells wide.
"""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # window titles, links
    r"|\x1b[@-_]?"
)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_TAB = "    "


def printable(line: str) -> str:
    """Take out all that would move the cursor or colour the screen of one line, without its end.

    A carriage return overwrites, as it does in a progress bar: what stands after the last counts.
    """
    if line.isascii() and line.isprintable():
        return line
    line = line.rstrip("\r").rpartition("\r")[2]
    return _UNPRINTABLE.sub("", _ESCAPES.sub("", line)).replace("\t", _TAB).replace("\n", " ")


def cells(text: str) -> int:
    """Count the columns that printable text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def clip(text: str, width: int) -> str:
    """Shorten printable text to ``width`` columns; the last one then says that it was cut."""
    if cells(text) <= width:
        return text
    kept, room = "", width - 1
    for character in text:
        room -= _width(character)
        if room < 0:
            break
        kept += character
    return kept + "…" if width > 0 else ""


def first_line(text: str) -> str:
    """Return the first line that says anything, printable; empty if there is none."""
    for line in text.split("\n"):
        shown = printable(line).strip()
        if shown:
            return shown
    return ""


def duration(seconds: float) -> str:
    """Say how long something took: ``0.4 s``, ``12 s``, ``3 min 20 s``."""
    if seconds < 10:  # noqa: PLR2004 - from two digits on, tenths are noise
        return f"{seconds:.1f} s"
    if seconds < 60:  # noqa: PLR2004
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Lines:
    """Streamed text, cut into lines as they complete.

    An unfinished line is held back, up to a limit: a cut escape sequence must not slip through,
    and nothing else may be printed in the middle of a line.
    """

    LIMIT = 16 * 1024
    """Characters held of one line; a longer one is handed out in pieces."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[str]:
        """Add a chunk and return the lines that it completed, printable."""
        *done, self._held = (self._held + text).split("\n")
        if len(self._held) > self.LIMIT:
            done.append(self._held)
            self._held = ""
        return [printable(line) for line in done]

    @property
    def held(self) -> str:
        """The unfinished line, printable."""
        return printable(self._held)

    def flush(self) -> list[str]:
        """Hand out the unfinished line, if there is one."""
        held, self._held = self._held, ""
        return [printable(held)] if held else []
