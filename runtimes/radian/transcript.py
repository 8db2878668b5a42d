"""From records to the messages that a model gets: any prefix of any journal makes a valid request.

Pure.  Sides alternate and the user's comes first; each call is answered by the very next message,
in the order of the calls; no message and no text is empty.  Providers answer 400 otherwise, and
a session that builds one such request is dead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from runtimes.models.base import (
    Image,
    Kept,
    Message,
    Reasoning,
    Text,
    ToolOutput,
    ToolUse,
)
from runtimes.models.json_text import encode, read_object
from runtimes.radian.healing import heal
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    Entry,
    ImageFile,
    Resource,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from runtimes.models.answer import AnswerPart
    from runtimes.models.base import Part
    from runtimes.radian.records import AssistantPart, UserPart

LoadImage: TypeAlias = "Callable[[ImageFile], str | None]"
"""Returns a picture as base64, None when it is gone."""

TURN_INTERRUPTED = "(The turn before was interrupted.)"
SUMMARY = "Summary of the conversation so far:\n\n"
BEGINNING_MISSING = "(The beginning of the conversation is not known.)"
IMAGE_MISSING = "(A picture that is no longer there.)"
NO_OUTPUT = "(no output)"


def no_images(image: ImageFile) -> str | None:
    """Load none: for views in which pictures don't matter."""
    del image
    return None


def build_messages(
    entries: Iterable[Entry], *, images: LoadImage = no_images, agent: str | None = None
) -> tuple[Message, ...]:
    """Return the conversation as the next call gets it, from the last compaction on.

    ``agent``: the conversation of that subagent instead of the session's own.  The last message
    is the user's, unless the last record that counts is an answer without calls.
    """
    building = _Building(images)
    for entry in heal(kept_entries(list(entries), agent)):
        building.take(entry)
    return building.messages()


def kept_entries(entries: Sequence[Entry], agent: str | None = None) -> list[Entry]:
    """Return what a compaction left of one conversation; its `Compacted` comes first."""
    last = next(
        (
            each
            for each in reversed(entries)
            if isinstance(each.record, Compacted) and each.record.agent == agent
        ),
        None,
    )
    if last is None or not isinstance(last.record, Compacted):
        return [each for each in entries if _is_of(each, agent)]
    # What came after the compaction is always part of it.
    first = min(last.record.first_kept_seq, last.seq)
    kept = (each for each in entries if each.seq >= first and _is_of(each, agent))
    return [last, *(each for each in kept if not isinstance(each.record, Compacted))]


def from_answer(parts: Iterable[AnswerPart]) -> tuple[AssistantPart, ...]:
    """Return the parts of an answer as they are recorded."""
    return tuple(
        ToolCall(part.call_id, part.name, read_object(part.arguments) or {})
        if isinstance(part, ToolUse)
        else part
        for part in parts
    )


def user_part(part: UserPart, images: LoadImage) -> Text | Image:
    """Return what a model gets for a part of a user's message."""
    match part:
        case Text():
            return part
        case ImageFile(mime_type=mime_type):
            data = images(part)
            return Text(IMAGE_MISSING) if data is None else Image(mime_type, data)
        case Resource():
            return Text(resource_line(part))


def resource_line(resource: Resource) -> str:
    """Return a resource as text: a line, or all of it where it was put in."""
    if resource.text is None:
        return f"{resource.name}: {resource.uri}" if resource.name else resource.uri
    return f'<resource uri="{resource.uri}">\n{resource.text}\n</resource>'


def _is_of(entry: Entry, agent: str | None) -> bool:
    # Records that have no agent (a turn began, ended) speak of the session.
    return getattr(entry.record, "agent", None) == agent


class _Building:
    """Takes healed records and keeps both sides apart until they are whole."""

    def __init__(self, images: LoadImage) -> None:
        self._images = images
        self._messages: list[Message] = []
        self._answer: list[Part] = []
        self._calls: list[tuple[str, str]] = []
        """Calls of the answer: the id in the journal, and the one that is sent."""
        self._outputs: dict[str, ToolOutput] = {}
        self._said: list[Part] = []
        self._used: set[str] = set()
        self._turn_open = False
        self._interrupted = False
        self._paused = False

    def take(self, entry: Entry) -> None:
        """Add a record."""
        match entry.record:
            case Compacted(summary=summary):
                self._said.append(Text(SUMMARY + summary))
            case TurnStarted():
                self._interrupted = self._interrupted or self._turn_open
                self._turn_open = True
            case TurnEnded(end=end):
                self._interrupted = self._interrupted or end == "Interrupted"
                self._turn_open = False
            case UserMessage() as message:
                self._take_user(message)
            case AssistantMessage() as message if not message.superseded:
                self._take_answer(message)
            case ToolResult() as result:
                self._take_result(result)
            case _:
                pass

    def messages(self) -> tuple[Message, ...]:
        """Return all messages."""
        self._settle_answer()
        self._settle_user()
        if self._messages and self._messages[0].role == "assistant":
            self._messages.insert(0, Message("user", (Text(BEGINNING_MISSING),)))
        return tuple(self._messages)

    def _take_user(self, message: UserMessage) -> None:
        if self._interrupted:
            self._said.append(Text(TURN_INTERRUPTED))
            self._interrupted = False
        self._said += (user_part(part, self._images) for part in message.content)

    def _take_answer(self, message: AssistantMessage) -> None:
        parts = _sendable(message)
        if not parts:
            return
        if self._said or self._calls:
            self._settle_answer()
            self._settle_user()
        self._paused = message.finish == "pause"
        for part in parts:
            if isinstance(part, ToolCall):
                self._answer.append(self._call(part))
            else:
                _append(self._answer, part)

    def _call(self, call: ToolCall) -> ToolUse:
        """Send a call under an id of its own: some servers number anew in each answer."""
        sent, number = call.call_id, 1
        while sent in self._used:
            number += 1
            sent = f"{call.call_id}-{number}"
        self._used.add(sent)
        self._calls.append((call.call_id, sent))
        return ToolUse(sent, call.name, encode(call.input).decode())

    def _take_result(self, result: ToolResult) -> None:
        for recorded, sent in self._calls:
            if recorded == result.call_id and sent not in self._outputs:
                text = result.output if result.output.strip() else NO_OUTPUT
                self._outputs[sent] = ToolOutput(sent, text, result.status == "failed")
                return

    def _settle_answer(self) -> None:
        parts = tuple(part for part in self._answer if not _is_blank(part))
        self._answer.clear()
        # A thought that led to nothing is refused as the last thing said, but for a pause, in
        # which the provider wants back just that.
        if self._paused or any(isinstance(part, Text | ToolUse) for part in parts):
            self._push("assistant", parts)
        outputs = [self._outputs[sent] for _, sent in self._calls]
        self._said[:0] = outputs
        self._calls.clear()
        self._outputs.clear()

    def _settle_user(self) -> None:
        parts = tuple(part for part in self._said if not _is_blank(part))
        self._said.clear()
        self._push("user", parts)

    def _push(self, role: str, parts: tuple[Part, ...]) -> None:
        if not parts:
            return
        last = self._messages[-1] if self._messages else None
        if last is not None and last.role == role:
            self._messages[-1] = Message(last.role, last.parts + parts)
            return
        self._messages.append(Message("user" if role == "user" else "assistant", parts))


def _sendable(message: AssistantMessage) -> tuple[AssistantPart, ...]:
    """Return the parts that a provider takes back.

    Of an answer that was cut, only text: half a thought has no signature, and its calls never ran.
    """
    if message.partial or message.finish in {"broken", "failed", "cancelled"}:
        return tuple(part for part in message.parts if isinstance(part, Text))
    return message.parts


def _append(answer: list[Part], part: Text | Reasoning | Kept) -> None:
    """Add a part; text goes on where the text before it ended."""
    before = answer[-1] if answer else None
    if isinstance(part, Text) and isinstance(before, Text):
        answer[-1] = Text(before.text + part.text)
    else:
        answer.append(part)


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text | Reasoning) and not part.text.strip()
