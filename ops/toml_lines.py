"""Where each key of a TOML text stands, so that a finding can name its line.

A scan of headers and keys, not a second parser: tomllib has accepted the text before.  What it
can't place (a key inside an inline table) gets the line of the nearest key around it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

KeyPath: TypeAlias = tuple[str | int, ...]

_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]")
_ASSIGNMENT = re.compile(rf"\s*({_DOTTED})\s*=")
_PART = re.compile(_KEY)
_SKIPPED = (
    r'"""(?:\\.|[^\\])*?"""',
    r"'''.*?'''",
    r'"(?:\\.|[^"\\\n])*"',
    r"'[^'\n]*'",
    r"#[^\n]*",
)
_SKIP = re.compile("|".join(_SKIPPED), re.DOTALL)
"""Strings and comments: nothing inside them is structure."""
_BEHIND_KEY = re.compile(r"[ \t]*[=.\]]")


class LineIndex:
    """Lines (from 1) of the keys of one text, by path: ``("phases", 0, "steps", 1, "fn")``."""

    def __init__(self, text: str) -> None:
        self._lines: dict[KeyPath, int] = {(): 1}
        self._counts: dict[KeyPath, int] = {}
        self._table: KeyPath = ()
        self._scan(text)

    @classmethod
    def of(cls, lines: Mapping[KeyPath, int]) -> LineIndex:
        """Return an index of lines that are known from elsewhere."""
        index = cls("")
        index._lines.update(lines)
        return index

    def line(self, path: KeyPath) -> int:
        """Return the line of ``path``, or of the nearest thing around it that has one."""
        while path not in self._lines:
            path = path[:-1]
        return self._lines[path]

    def _scan(self, text: str) -> None:
        depth = 0
        for number, line in enumerate(_structure(text).split("\n"), start=1):
            if depth == 0:
                self._read(line, number)
                line = _value(line)  # noqa: PLW2901 - brackets of a header open nothing
            depth += _opened(line)

    def _read(self, line: str, number: int) -> None:
        if header := _HEADER.match(line):
            names = _names(header[2])
            path = (*self._absolute(names[:-1]), names[-1])
            if header[1] == "[[":
                index = self._counts[path] = self._counts.get(path, -1) + 1
                self._lines.setdefault(path, number)
                path = (*path, index)
            self._table = path
            self._lines.setdefault(path, number)
        elif assignment := _ASSIGNMENT.match(line):
            self._lines.setdefault((*self._table, *_names(assignment[1])), number)

    def _absolute(self, names: tuple[str, ...]) -> KeyPath:
        """Put the index of the current element behind each name of an array of tables."""
        path: KeyPath = ()
        for name in names:
            path = (*path, name)
            if path in self._counts:
                path = (*path, self._counts[path])
        return path


def _structure(text: str) -> str:
    """Blank out strings (but not keys in quotes) and comments, keeping every line's number."""

    def blank(found: re.Match[str]) -> str:
        piece = found[0]
        if piece.startswith(('"""', "'''")):
            return "\n" * piece.count("\n")
        is_key = piece[0] != "#" and _BEHIND_KEY.match(found.string, found.end())
        return piece if is_key and "\n" not in piece else ""

    return _SKIP.sub(blank, text.replace("\r\n", "\n"))


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _value(line: str) -> str:
    if _HEADER.match(line):
        return ""
    assignment = _ASSIGNMENT.match(line)
    return line[assignment.end() :] if assignment else line


def _opened(line: str) -> int:
    return sum(line.count(mark) for mark in "[{") - sum(line.count(mark) for mark in "]}")
