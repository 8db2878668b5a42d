"""Keeping lines short: text cut into pieces, raw values shortened with a note.  Pure.

Clients differ in what they can read: an old official SDK breaks at 64 KiB a line, others at 16 or
32 MiB.  So what is streamed is cut into lines under 60 KiB, and tool calls are shortened to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from protocol.members import is_list, is_object
from protocol.writable import writable

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT_PIECE_BYTES = 56 * 1024
"""A piece of text as JSON; leaves 4 KiB of a 60 KiB line to the envelope and its ids."""
MAX_UPDATE_BYTES = 60 * 1024
"""No `session/update` line is longer."""
RAW_BYTES = MAX_UPDATE_BYTES // 4
"""A raw input or output as JSON."""

_MOST_BYTES_A_CHARACTER = 6
r"""A control character, written as ``\u001f``."""
_SHORTEST_TEXT_BYTES = 128


def cut_text(text: str, limit_bytes: int = TEXT_PIECE_BYTES) -> Iterator[str]:
    """Cut ``text`` into pieces that take at most ``limit_bytes`` each as JSON, quotes included.

    No cut lies inside a character, and the pieces joined equal the whole.  No piece is empty: an
    empty text has none.  One character may take 8 bytes; a lower limit is passed by it.
    """
    start = 0
    while start < len(text):
        stop = _piece_end(text, start, limit_bytes)
        yield text[start:stop]
        start = stop


def json_size(value: object) -> int:
    """Bytes that ``value`` takes as JSON."""
    try:
        return len(orjson.dumps(value))
    except orjson.JSONEncodeError:
        return len(orjson.dumps(writable(value)))


def shorten_text(text: str, limit_bytes: int) -> str:
    """Keep the two ends of a text that takes over ``limit_bytes`` as JSON, with a note between.

    Under some 100 bytes there is only room for the note, which is then all that is left.
    """
    if len(text) * _MOST_BYTES_A_CHARACTER + 2 <= limit_bytes or json_size(text) <= limit_bytes:
        return text
    kept = max(0, limit_bytes - 80)
    while kept:
        head, tail = text[: kept - kept // 2], text[len(text) - kept // 2 :]
        shorter = f"{head}\n[... {len(text) - kept} characters left out ...]\n{tail}"
        if json_size(shorter) <= limit_bytes:
            return shorter
        kept = kept * 3 // 4
    return f"[{len(text)} characters left out]"


def shorten_raw(value: Any, limit_bytes: int = RAW_BYTES) -> Any:
    """Shorten a JSON value that takes over ``limit_bytes``: first its long texts, then all of it.

    Its shape is kept if shorter texts are enough; else it becomes a text that begins and ends like
    its JSON.
    """
    if json_size(value) <= limit_bytes:
        return value
    value = writable(value)  # also bounds the depth for the recursion below
    text_bytes = limit_bytes // 2
    while text_bytes >= _SHORTEST_TEXT_BYTES:
        shorter = _with_short_texts(value, text_bytes)
        if json_size(shorter) <= limit_bytes:
            return shorter
        text_bytes //= 4
    return shorten_text(orjson.dumps(value).decode(), limit_bytes)


def _piece_end(text: str, start: int, limit_bytes: int) -> int:
    """Find where a piece that begins at ``start`` ends, halving until it fits."""
    stop = min(len(text), start + limit_bytes)
    while stop - start > 1 and json_size(text[start:stop]) > limit_bytes:
        stop = start + (stop - start) // 2
    # Two halves of a pair would each be replaced; together they are one character.
    if _is_pair(text[stop - 1 : stop + 1]):
        stop = stop - 1 if stop - 1 > start else stop + 1
    return stop


def _is_pair(two: str) -> bool:
    return len(two) > 1 and "\ud800" <= two[0] <= "\udbff" and "\udc00" <= two[1] <= "\udfff"


def _with_short_texts(value: Any, limit_bytes: int) -> Any:
    if type(value) is str:
        return shorten_text(value, limit_bytes)
    if is_object(value):
        return {key: _with_short_texts(member, limit_bytes) for key, member in value.items()}
    if is_list(value):
        return [_with_short_texts(item, limit_bytes) for item in value]
    return value
