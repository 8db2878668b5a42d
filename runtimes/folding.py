"""Tables on a terminal that is narrower than they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.help_layout import columns_of, paragraph

if TYPE_CHECKING:
    from typing import TextIO


def folded_for(stream: TextIO, text: str) -> str:
    """Return ``text`` as the terminal behind ``stream`` has room for it; a file has all room."""
    width = columns_of(stream)
    return folded(text, width) if width else text


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
    room = width - len(before)
    whole = word.startswith("chant ") or max(map(len, word.split())) > room
    first, *rest = [word] if whole else paragraph(word, room)
    return [before + first, *(" " * len(before) + each for each in rest)]
