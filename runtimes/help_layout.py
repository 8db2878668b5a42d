"""Help in paragraphs and two columns, no wider than the terminal that shows it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

WIDEST = 100
"""Columns of a text that is not shown on a terminal, and the most on one: longer lines tire."""

LEAST = 40
"""Columns below which nothing is gained by wrapping."""

LEFT = 28
"""The most that the left column takes; what is longer there has a line of its own."""


def terminal_width() -> int:
    """Return how wide help may be on stdout; the variable COLUMNS has the first word.

    As `shutil.get_terminal_size` has it, whose module imports every kind of compression.
    """
    return max(LEAST, min(WIDEST, _columns_asked_for() or columns_of(sys.__stdout__) or WIDEST))


def paragraph(text: str, width: int, indent: str = "") -> list[str]:
    """Wrap one paragraph between words; ``indent`` begins its lines but for the first."""
    from textwrap import wrap

    return wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)


def columns(rows: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Return rows of two columns; what the right one says goes on below itself."""
    rows = list(rows)
    left = min(LEFT, max((len(head) for head, _ in rows), default=0))
    lines: list[str] = []
    for head, about in rows:
        first, *rest = paragraph(about, width - left - 4) or [""]
        if len(head) > left:
            lines.append(f"  {head}")
            head = ""  # noqa: PLW2901 - it has been said
        lines.append(f"  {head:<{left}}  {first}".rstrip())
        lines += [f"{'':{left + 4}}{line}" for line in rest]
    return lines


def _columns_asked_for() -> int:
    try:
        return max(0, int(os.environ.get("COLUMNS", "")))
    except ValueError:
        return 0


def columns_of(stream: TextIO | None) -> int:
    """Return how wide the terminal is that shows a stream; 0: none does, or it doesn't say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream else 0
    except (OSError, ValueError):  # no terminal, or closed
        return 0
