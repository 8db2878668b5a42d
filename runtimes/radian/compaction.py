"""When a conversation is shortened, and what of it stays.  Pure.

Sizes are tokens: those that the provider reported, and an estimate of what came since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.values import frozen
from runtimes.models.base import Kept, Reasoning, Text
from runtimes.models.json_text import encode
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    ImageFile,
    ToolResult,
    UserMessage,
)
from runtimes.radian.transcript import conversation_of, kept_entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeGuard

    from runtimes.radian.records import AssistantPart, Entry, Record, UserPart

SHARE = 0.8
"""Of the window that a conversation may fill.  The rest is for the answer, and for what came since
the last call, of which there is only an estimate; a call that is refused costs more than a summary.
"""
REGROWTH = 0.1
"""Of the window that has to come anew before the same conversation is shortened once more: where
instructions and tools alone are too large, one summary after the other would change nothing."""
TAIL_TOKENS = 20_000
"""Of the latest messages that stay as they are, at most."""
TAIL_SHARE = 4
"""The part of the window, and of the conversation, that the latest messages may have: a quarter."""
BYTES_A_TOKEN = 4
IMAGE_TOKENS = 1_600
MESSAGE_TOKENS = 4
"""What it takes to say whose message it is."""


@frozen
class Plan:
    """What becomes of a conversation."""

    head: tuple[Entry, ...]
    """What a summary takes the place of, an earlier summary included."""
    first_kept_seq: int
    said: tuple[UserMessage, ...]
    """All that the person said before what stays, from the beginning; not what stays anyway."""
    tokens_before: int
    tokens_removed: int
    tokens_kept: int
    """Of what is sent beside the summary."""


def window_of(entries: Sequence[Entry], model: str, stated: int | None) -> int | None:
    """Return the context window of ``model``; ``stated``: what the configuration says of it."""
    if stated is not None:
        return stated
    answers = (each.record for each in reversed(entries))
    for answer in answers:
        if isinstance(answer, AssistantMessage) and answer.context_window is not None:
            return answer.context_window if answer.model == model else None
    return None


def is_due(
    entries: Sequence[Entry],
    window: int | None,
    output_tokens: int | None = None,
    agent: str | None = None,
) -> bool:
    """Tell whether the next call needs a shorter conversation.

    ``output_tokens``: what its answer may have, which some providers count as part of the window.
    """
    if window is None:
        return False
    limit = min(SHARE * window, window - min(output_tokens or 0, window / 2))
    if context_size(entries, agent) <= limit:
        return False
    grown = _grown(entries, agent)
    return grown is None or grown >= REGROWTH * window


def context_size(entries: Sequence[Entry], agent: str | None = None) -> int:
    """Return how large the conversation is: as measured by the last call, and what came since."""
    since = 0
    for entry in reversed(entries):
        record = entry.record
        if getattr(record, "agent", None) != agent:
            continue
        if isinstance(record, Compacted):
            break
        measured = _measured(record)
        if measured is not None:
            return measured + since
        since += tokens_of(record)
    return sum(tokens_of(each.record) for each in _view(entries, agent))


def plan_of(
    entries: Sequence[Entry],
    window: int | None = None,
    *,
    go_on: bool = False,
    agent: str | None = None,
) -> Plan | None:
    """Return what to summarise, None where nothing but the last question would be left.

    What stays begins with a message, never between a call and its result.  ``go_on``: the last
    answer is to be continued, so it stays.
    """
    view = _view(entries, agent)
    at = next((n for n, each in enumerate(view) if isinstance(each.record, Compacted)), -1) + 1
    tail = view[at:]
    asked = _last_question(view)
    sizes = [0 if each is asked else tokens_of(each.record) for each in tail]
    cut = _cut(tail, sizes, asked, window, go_on=go_on)
    removed = sum(sizes[:cut])
    if not removed:
        return None
    # What is written before the summary will be, a failed call, is no part of the conversation.
    first = tail[cut].seq if cut < len(tail) else entries[-1].seq + 1
    own = conversation_of(entries, agent)
    kept = sum(sizes[cut:]) + (0 if asked is None else tokens_of(asked.record))
    return Plan(
        head=tuple(view[: at + cut]),
        first_kept_seq=first,
        said=tuple(_said_before(own, first, asked)),
        tokens_before=context_size(entries, agent),
        tokens_removed=removed,
        tokens_kept=kept,
    )


def tokens_of(record: Record) -> int:
    """Estimate what a record takes in a request."""
    match record:
        case UserMessage(content=content):
            return MESSAGE_TOKENS + sum(map(_user_tokens, content))
        case AssistantMessage(parts=parts, superseded=False) if parts:
            return MESSAGE_TOKENS + sum(map(_answer_tokens, parts))
        case ToolResult(output=text) | Compacted(summary=text):
            return MESSAGE_TOKENS + text_tokens(text)
        case _:
            return 0


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


def _view(entries: Sequence[Entry], agent: str | None) -> list[Entry]:
    own = conversation_of(entries, agent)
    return kept_entries(own) if any(isinstance(each.record, Compacted) for each in own) else own


def _grown(entries: Sequence[Entry], agent: str | None) -> int | None:
    """Return what was added since the first call after the last summary; None: there is none."""
    first, since = None, 0
    for entry in reversed(entries):
        record = entry.record
        if getattr(record, "agent", None) != agent:
            continue
        if isinstance(record, Compacted):
            return since if first is None else context_size(entries, agent) - first
        since += tokens_of(record)
        measured = _measured(record)
        first = first if measured is None else measured
    return None


def _measured(record: Record) -> int | None:
    """Return the size of the conversation as a call's provider told it, its answer included."""
    if not isinstance(record, AssistantMessage) or record.superseded or record.usage is None:
        return None
    return record.usage.input_tokens + record.usage.output_tokens


def _last_question(view: Sequence[Entry]) -> Entry | None:
    """Return the person's last message."""
    said = [each for each in view if _is_said(each.record)]
    return max(said, key=lambda each: each.seq, default=None)


def _is_said(record: Record) -> TypeGuard[UserMessage]:
    return isinstance(record, UserMessage) and record.source == "user"


def _said_before(own: Sequence[Entry], first: int, asked: Entry | None) -> Iterator[UserMessage]:
    for entry in own:
        if entry.seq < first and entry is not asked and _is_said(entry.record):
            yield entry.record


def _cut(
    tail: Sequence[Entry],
    sizes: Sequence[int],
    asked: Entry | None,
    window: int | None,
    *,
    go_on: bool,
) -> int:
    """Return where what stays begins in ``tail``; its length: nothing of it stays."""
    room = min(TAIL_TOKENS, sum(sizes) // TAIL_SHARE)
    if window is not None:
        room = min(room, window // TAIL_SHARE)
    begins = _beginnings(tail)
    cut, left = len(tail), room
    for at in reversed(range(len(tail))):
        left -= sizes[at]
        if left < 0:
            break
        cut = at if at in begins else cut
    answers = [at for at in begins if isinstance(tail[at].record, AssistantMessage)]
    if go_on and answers:
        cut = min(cut, max(answers))
    question = next((at for at, each in enumerate(tail) if each is asked), None)
    if question is not None and question > max(answers, default=-1):
        cut = min(cut, question)
    return cut


def _beginnings(tail: Sequence[Entry]) -> set[int]:
    """Return where a message of the conversation begins that needs none before it."""
    found: set[int] = set()
    paused = False
    for at, entry in enumerate(tail):
        match entry.record:
            case UserMessage():
                found.add(at)
                paused = False
            case AssistantMessage(superseded=False) as answer:
                if not paused and not answer.continues:
                    found.add(at)
                paused = answer.finish == "pause"
            case _:
                pass
    return found


def _user_tokens(part: UserPart) -> int:
    match part:
        case Text(text):
            return text_tokens(text)
        case ImageFile():
            return IMAGE_TOKENS
        case _:
            return text_tokens(f"{part.uri}{part.name}{part.text or ''}")


def _answer_tokens(part: AssistantPart) -> int:
    match part:
        case Text(text) | Reasoning(text):
            return text_tokens(text)
        case Kept(payload):
            return len(encode(payload)) // BYTES_A_TOKEN
        case _:
            return text_tokens(part.name) + len(encode(part.input)) // BYTES_A_TOKEN
