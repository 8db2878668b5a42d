"""What the model is asked when a conversation is shortened, and what becomes of its answer.  Pure.

The part that goes is sent as one text, not as messages: it needs no tools, no pictures and no
signatures, and can be cut to any length.  The same records always make the same text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.named_tuple import NamedTuple
from runtimes.models.base import Text
from runtimes.models.json_text import encode
from runtimes.radian.compaction import BYTES_A_TOKEN
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    ImageFile,
    Resource,
    ToolCall,
    ToolResult,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runtimes.radian.compaction import Plan
    from runtimes.radian.records import Record

ASK = """\
Summarize the conversation above for the agent that goes on with it. Keep what it can't find out \
again, in few words, under these headings, without those that would be empty:

- Request: what the person wants, with every condition, preference and refusal that still holds.
- Done: what was changed, with paths, and which checks passed or failed.
- Known: what was found out: paths, names, commands, exact messages of errors, decisions and why.
- State: what was being done when the conversation stops, and what is left to do.

An earlier summary stands in for what came before it: take over what still holds. Say nothing that \
is not in the conversation. Write the summary alone, in the conversation's language, at most 800 \
words."""
BEGIN = "<conversation>"
END = "</conversation>"
SAID = "\n\nWhat the person wrote before, word for word, oldest first:\n"
NO_SUMMARY = "(No summary could be made. What came before is not known here; look at the files.)"

MIN_ROOM = 8 * 1024
NOTE_BYTES = 64
SHRINK_BITS = 2
"""Each attempt has a quarter of the room of the one before."""
SAFE_BYTES_A_TOKEN = 3
"""For a text that has to fit: code and other scripts than Latin need more tokens than prose."""
MAX_SUMMARY_BYTES = 32 * 1024
MIN_SUMMARY_BYTES = 4 * 1024
SUMMARY_SHARE = 8
"""The part of a window that a summary may fill."""
MAX_SAID_BYTES = 6 * 1024
MAX_SAID_CHARS = 1_000
"""Of one message of the person."""


class _Level(NamedTuple):
    """How many characters stay of what a tool said, of a call's input and of a message."""

    output: int
    input: int
    message: int


LEVELS = (_Level(4_000, 1_000, 8_000), _Level(800, 300, 3_000), _Level(200, 120, 800))


def room_for(plan: Plan, window: int | None, attempt: int) -> int:
    """Return how many bytes of a conversation to send; ``attempt`` counts from 1.

    Half of the window, or of what did not fit where nobody knows the window.
    """
    tokens = max(plan.tokens_before, plan.tokens_removed + plan.tokens_kept)
    room = tokens * BYTES_A_TOKEN // 2
    if window is not None:
        room = min(room, window * SAFE_BYTES_A_TOKEN // 2)
    return max(room, MIN_ROOM) >> SHRINK_BITS * (attempt - 1)


def request_text(plan: Plan, room: int) -> str:
    """Return what the model is asked; the conversation in it has at most ``room`` bytes.

    Long outputs are cut first, then calls and messages, and at last the oldest are left out.
    """
    records = [each.record for each in plan.head]
    lines: list[str] = []
    for level in LEVELS:
        lines = [line for each in records for line in _lines(each, level)]
        if _size(lines) <= room:
            break
    first = [f"[Earlier summary] {_cut_bytes(each, room // 2)}" for each in _earlier(plan)]
    left_out = 0
    while left_out < len(lines) and _size([*first, *lines[left_out:]]) > room - NOTE_BYTES:
        left_out += max(1, (len(lines) - left_out) // 16)
    note = [f"[{left_out} older pieces are left out]"] if left_out else []
    shown = "\n\n".join([*first, *note, *lines[left_out:]]).replace(END, "")
    return f"{BEGIN}\n{shown}\n{END}\n\n{ASK}"


def finished(text: str, plan: Plan, window: int | None) -> str:
    """Return the summary to record: what the model wrote, and what the person said.

    It is never much longer than half of what it stands for, whatever the model wrote.
    """
    limit = max(MIN_SUMMARY_BYTES, min(MAX_SUMMARY_BYTES, plan.tokens_removed * BYTES_A_TOKEN // 2))
    if window is not None:
        limit = min(limit, window * BYTES_A_TOKEN // SUMMARY_SHARE)
    # A model that takes over our list of what was said would double it.
    written = text.partition(SAID)[0].strip() or "\n\n".join([*_earlier(plan), NO_SUMMARY])
    return _cut_bytes(written, limit) + _said(plan.said, min(MAX_SAID_BYTES, limit))


def _earlier(plan: Plan) -> list[str]:
    """Return what a model wrote as the summary before this one."""
    records = (each.record for each in plan.head)
    return [each.summary.partition(SAID)[0] for each in records if isinstance(each, Compacted)]


def _said(messages: Sequence[UserMessage], room: int) -> str:
    """List what the person said, the latest if there is no room for all."""
    texts = [text for each in messages if (text := _user_text(each))]
    kept: list[str] = []
    for text in reversed(texts):
        line = f"- {_cut(text, MAX_SAID_CHARS)}"
        room -= len(line.encode("utf-8", "replace"))
        if room < 0:
            break
        kept.append(line)
    if not kept:
        return ""
    missing = len(texts) - len(kept)
    note = [f"({missing} older ones are left out)"] if missing else []
    return SAID + "\n".join([*note, *reversed(kept)])


def _lines(record: Record, level: _Level) -> Iterator[str]:
    match record:
        case UserMessage(source="user"):
            yield f"[Person] {_cut(_user_text(record), level.message)}"
        case UserMessage():
            yield f"[Note] {_cut(_user_text(record), level.message)}"
        case AssistantMessage(superseded=False):
            for part in record.parts:
                if isinstance(part, Text) and part.text.strip():
                    yield f"[Agent] {_cut(part.text, level.message)}"
                elif isinstance(part, ToolCall):
                    given = encode(part.input).decode()
                    yield f"[Call of {part.name}] {_cut(given, level.input)}"
        case ToolResult(status=status, output=output):
            how = "" if status == "completed" else ", failed"
            yield f"[Result{how}] {_cut(output, level.output)}"
        case _:
            return


def _user_text(message: UserMessage) -> str:
    return "\n".join(_part_text(part) for part in message.content).strip()


def _part_text(part: Text | ImageFile | Resource) -> str:
    match part:
        case Text(text):
            return text
        case ImageFile():
            return "(a picture)"
        case Resource(uri, name, text):
            line = f"{name}: {uri}" if name else uri
            return line if text is None else f"{line}\n{text}"


def _cut(text: str, limit: int) -> str:
    """Keep the beginning and the end of a text; ``limit`` is in characters."""
    if len(text) <= limit:
        return text
    end = limit // 3
    return f"{text[: limit - end]}{_gap(len(text) - limit)}{text[len(text) - end :]}"


def _cut_bytes(text: str, limit: int) -> str:
    """Do the same with a limit in bytes, beside which there is room for the remark."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    end = limit // 3
    pieces = (data[: limit - end], data[len(data) - end :])
    first, last = (each.decode("utf-8", "ignore") for each in pieces)
    return f"{first}{_gap(len(text) - len(first) - len(last))}{last}"


def _gap(count: int) -> str:
    return f"\n[… {count} characters left out …]\n"


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 2 for line in lines)
