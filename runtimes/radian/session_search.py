"""Finding turns by what was asked and answered in them: all words, whatever their case.

100 MB take less than a second: a line is parsed only if one of the words may be in it.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

import orjson

from ops.plain_file import plain
from protocol.values import frozen, slotted
from runtimes.models.json_text import tables, text_of
from runtimes.radian.sessions import one_line, user_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runtimes.radian.sessions import Sessions

AROUND = 60
"""Characters of an excerpt on each side of a word."""
ENVELOPE_BYTES = 160
"""The type of a record stands in the first bytes of its line, after number and time."""
RESULT = b'"type":"ToolResult"'


@frozen
class Hit:
    """A turn in which all words occur."""

    session_id: str
    turn: int
    ts: str
    excerpt: str


def search(sessions: Sessions, workspace: str, query: str) -> list[Hit]:
    """Return the turns of this workspace's sessions that have all words of ``query``.

    The session written last comes first, its turns in order.  What was asked and answered is
    searched, not what tools printed.  Lines that can't be read are passed over.
    """
    # A command line may hold bytes that are no text; they are in no journal either.
    clean = query.encode("utf-8", "replace").decode()
    words = tuple(dict.fromkeys(clean.lower().split()))
    return [
        hit
        for summary in sessions.list(workspace)
        for hit in _in_file(sessions.path(summary.session_id), summary.session_id, words)
    ]


def _in_file(path: str, session_id: str, words: Sequence[str]) -> list[Hit]:
    try:
        with open(path, "rb", opener=plain) as stream:
            data = stream.read()
    except OSError:
        return []
    return search_journal(data, session_id, words)


def search_journal(data: bytes, session_id: str, words: Sequence[str]) -> list[Hit]:
    """Search one journal's bytes for ``words``, which are in lower case.  Pure."""
    if not words:
        return []
    turns: dict[int, _Turn] = {}
    for table in _candidates(data, words):
        turn = table.get("turn")
        if type(turn) is int:
            turns.setdefault(turn, _Turn()).take(table, words)
    found = sorted((turn, each) for turn, each in turns.items() if len(each.seen) == len(words))
    return [Hit(session_id, turn, each.ts, _excerpt(each.text, words)) for turn, each in found]


@slotted
class _Turn:
    """What was seen of a turn: which words, and the text that has most of them."""

    seen: set[str] = field(default_factory=set[str])
    ts: str = ""
    text: str = ""
    best: int = 0

    def take(self, table: dict[str, Any], words: Sequence[str]) -> None:
        """Add a record."""
        text = _text(table)
        lowered = text.lower()
        here = {word for word in words if word in lowered}
        self.seen |= here
        if len(here) > self.best:
            self.best, self.text, self.ts = len(here), text, text_of(table.get("ts"))


def _text(table: dict[str, Any]) -> str:
    if table.get("agent") is not None:
        return ""
    match table.get("type"):
        case "UserMessage":
            return user_text(table)
        case "AssistantMessage" if not table.get("superseded"):
            parts = tables(table.get("parts"))
            texts = (text_of(part.get("text")) for part in parts if part.get("type") == "text")
            return "\n".join(texts)
        case _:
            return ""


# --- which lines to parse


def _candidates(data: bytes, words: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects in which a word may be, in order; none if one is nowhere at all."""
    # Lower case of ASCII only: every byte keeps its place.
    lowered = data.lower()
    needles = [_needle(word) for word in words]
    if any(needle not in lowered for needle in needles):
        return
    starts = {start for needle in needles for start in _lines_with(lowered, needle)}
    view = memoryview(data)
    for start in sorted(starts):
        if RESULT in data[start : start + ENVELOPE_BYTES]:
            continue
        end = data.find(b"\n", start)
        try:
            value: Any = orjson.loads(view[start : len(data) if end < 0 else end])
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _lines_with(lowered: bytes, needle: bytes) -> Iterator[int]:
    """Yield where the lines begin that hold ``needle``."""
    at = lowered.find(needle)
    while at >= 0:
        yield lowered.rfind(b"\n", 0, at) + 1
        end = lowered.find(b"\n", at)
        at = lowered.find(needle, end + 1) if end >= 0 else -1


def _needle(word: str) -> bytes:
    """Return bytes that are in a line, as JSON in lower case of ASCII, wherever ``word`` is."""
    if word.isascii() or word.upper() == word:
        return orjson.dumps(word)[1:-1]
    pieces: list[str] = re.findall(r"[ -!#-\[\]-~]*", word)
    return max(pieces, key=len).encode()


# --- what is shown


def _excerpt(text: str, words: Sequence[str]) -> str:
    lowered = text.lower()
    at = min((found for found in map(lowered.find, words) if found >= 0), default=0)
    start, end = max(0, at - AROUND), at + AROUND
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{one_line(text[start:end], 2 * AROUND)}{after}"
