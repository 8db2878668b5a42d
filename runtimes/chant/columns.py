"""Tables of words for people: aligned columns, short durations and times.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def columns(rows: Iterable[Sequence[str]], indent: str = "") -> list[str]:
    """Return a line for each row; the last column is not padded."""
    rows = list(rows)
    count = max((len(row) for row in rows), default=0)
    widths = [max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(count)]
    return [
        indent + "  ".join(f"{word:<{widths[i]}}" for i, word in enumerate(row)).rstrip()
        for row in rows
    ]


def folded(text: str, width: int) -> str:
    """Break lines that are wider than a terminal: between columns, not within ids and commands.

    A last column that begins well to the left goes on below itself.
    """
    return "\n".join(each for line in text.split("\n") for each in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    import re

    words = list(re.finditer(r"\S+(?: \S+)*", line)) if len(line) > width else []
    if not words:
        return [line]
    indent, last = words[0].start(), words[-1]
    if last.start() <= width // 3:
        return _wrapped(line[: last.start()], last[0], width)
    lines, end = [line[: words[0].end()]], words[0].end()
    for word in words[1:]:
        gap = " " * (word.start() - end)
        end = word.end()
        if len(lines[-1]) + len(gap) + len(word[0]) <= width:
            lines[-1] += gap + word[0]
        else:
            lines += _wrapped(" " * (indent + 4), word[0], width)
    return lines


def _wrapped(before: str, word: str, width: int) -> list[str]:
    """Wrap what one column says; a command, an id, an address stays whole, to be copied."""
    from runtimes.help_layout import paragraph

    room = width - len(before)
    whole = word.startswith("chant ") or max(map(len, word.split())) > room
    first, *rest = [word] if whole else paragraph(word, room)
    return [before + first, *(" " * len(before) + each for each in rest)]


def moment_text(stamp: object) -> str:
    """Write a timestamp of the ledger as people read it: to the second, in UTC."""
    text = str(stamp or "")
    return f"{text[:10]} {text[11:19]}Z" if len(text) > len("2026-01-01T00:00:00") else text


def shown_value(value: Any) -> str:
    """Write a fact on one line, shortened."""
    import json

    limit = 60
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
