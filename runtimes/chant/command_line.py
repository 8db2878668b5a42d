"""A prompt's text into words, by quotes and nothing else.  Pure.

There is no shell here: no variables, no pipes, no globbing, no redirection, no comments.  Quoting
reads as it does in a POSIX shell, so that a line means the same when someone types it there.
"""

from __future__ import annotations

import re

from protocol.values import frozen

MAX_TEXT_BYTES = 64 * 1024
"""Longest command line, as UTF-8.  Checked before splitting, which looks at every character."""

_PIECE = re.compile(
    r"""
      (?P<space>[ \t\r\n]+)
    | (?P<plain>[^ \t\r\n'"\\]+)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\]|\\.)*)"
    | \\(?P<escaped>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED_IN_DOUBLE = re.compile(r'\\(["\\])')


@frozen
class Unreadable:
    """A text that is no command line; ``reason`` is worded for whoever typed it."""

    reason: str


def split(text: str) -> tuple[str, ...] | Unreadable:
    """Split ``text`` into words.

    Space, tab and newlines part words; single and double quotes keep them together and may make
    an empty one.  A backslash outside quotes takes the next character as it is; inside double
    quotes it does so for a quote and a backslash, and is a plain character before anything else.
    """
    if too_long(text):
        return Unreadable(f"the text is longer than {MAX_TEXT_BYTES // 1024} KiB")
    if "\0" in text:
        return Unreadable("the text holds a NUL character")
    return _words(text)


def too_long(text: str) -> bool:
    """Tell whether ``text`` passes the limit, without a copy of one that clearly does."""
    if len(text) > MAX_TEXT_BYTES:
        return True
    return len(text.encode(errors="surrogatepass")) > MAX_TEXT_BYTES


def _words(text: str) -> tuple[str, ...] | Unreadable:
    words: list[str] = []
    pieces: list[str] = []
    inside = False  # an empty pair of quotes is a word too
    at = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            return Unreadable(_trouble(text, at))
        at = piece.end()
        if piece.lastgroup != "space":
            inside = True
            pieces.append(_meaning(piece))
        elif inside:
            words.append("".join(pieces))
            inside = False
            pieces.clear()
    return (*words, "".join(pieces)) if inside else tuple(words)


def _meaning(piece: re.Match[str]) -> str:
    group = piece.lastgroup or "plain"
    text: str = piece[group]
    return _ESCAPED_IN_DOUBLE.sub(r"\1", text) if group == "double" else text


def _trouble(text: str, at: int) -> str:
    if text[at] == "\\":
        return "a backslash at the end has nothing to escape"
    return f"the quote {text[at]} at character {at + 1} is never closed"
