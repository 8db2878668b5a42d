"""Patterns of permission rules: for texts, for paths, for addresses.  Pure: no I/O."""

from __future__ import annotations

import functools
import re


def text_matches(pattern: str, text: str) -> bool:
    """Match ``*`` with anything, also with spaces; ``git status *`` matches ``git status`` too."""
    if pattern.endswith(" *") and text == pattern[:-2]:
        return True
    return _text(pattern).fullmatch(text) is not None


def path_matches(pattern: str, path: str) -> bool:
    """Match ``*`` and ``?`` inside one name, ``**`` across folders; both are absolute.

    A pattern that names a folder, or ends in ``/**``, also matches that folder itself and what
    lies in it: who denies ``private`` does not mean its name only.
    """
    return _path(pattern.removesuffix("/**").rstrip("/")).fullmatch(path) is not None


def glob_matches(pattern: str, path: str) -> bool:
    """Match a relative path as a glob does: nothing below a matched folder is meant."""
    return re.fullmatch(_glob(pattern), path) is not None


def address_matches(pattern: str, url: str) -> bool:
    """Match a host (``*.python.org``), a host with a path, or a whole address with its scheme."""
    if "://" in pattern:
        return text_matches(pattern, url)
    rest = url.partition("://")[2]
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return text_matches(pattern, rest if "/" in pattern else host)


@functools.lru_cache(maxsize=512)
def _text(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


@functools.lru_cache(maxsize=512)
def _path(pattern: str) -> re.Pattern[str]:
    return re.compile(_glob(pattern) + r"(?:/.*)?", re.DOTALL)


_GLOB = r"\*\*/|\*\*|\*|\?|\{[^{}]*\}|[^*?{]+|\{"


def _glob(pattern: str) -> str:
    return "".join(_glob_piece(piece) for piece in re.findall(_GLOB, pattern))


def _glob_piece(piece: str) -> str:
    match piece:
        case "**/":
            return r"(?:.*/)?"
        case "**":
            return r".*"
        case "*":
            return r"[^/]*"
        case "?":
            return r"[^/]"
        case _ if piece.startswith("{") and piece.endswith("}"):
            return "(?:" + "|".join(map(_glob, piece[1:-1].split(","))) + ")"
        case _:
            return re.escape(piece)
