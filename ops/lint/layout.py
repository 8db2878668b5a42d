"""Rules about how files are written; all of them can be mended.  Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.lint.rule import Found
    from ops.lint.subject import Subject

OLD_KEY = re.compile(r"(?m)^(\s*\[{1,2}\s*)onFailure(?=\s*[.\]])")
TRAILING = re.compile(r"(?m)[ \t]+$")


def _toml(subject: Subject) -> Iterator[tuple[str, str]]:
    for path, text in subject.texts.items():
        if path.endswith(".toml"):
            yield path, text


def old_keys(subject: Subject) -> Iterator[Found]:
    """Yield headers that say onFailure."""
    for path, text in _toml(subject):
        for found in OLD_KEY.finditer(text):
            yield path, text.count("\n", 0, found.start()) + 1, "onFailure is spelled on_failure"


def with_new_keys(text: str) -> str:
    """Spell on_failure as everything else is spelled."""
    return OLD_KEY.sub(r"\1on_failure", text)


def trailing_space(subject: Subject) -> Iterator[Found]:
    """Yield lines that end in a space; where texts span lines, a space may be meant."""
    for path, text in _toml(subject):
        if _spans_lines(text):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if TRAILING.search(line):
                yield path, number, "the line ends in a space"


def without_trailing_space(text: str) -> str:
    """Drop spaces at the ends of lines."""
    return text if _spans_lines(text) else TRAILING.sub("", text)


def missing_newline(subject: Subject) -> Iterator[Found]:
    """Yield files that don't end in a newline."""
    for path, text in _toml(subject):
        if text and not text.endswith("\n"):
            yield path, text.count("\n") + 1, "the file does not end in a newline"


def with_newline(text: str) -> str:
    """End the text in a newline."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def _spans_lines(text: str) -> bool:
    return '"""' in text or "'''" in text
