"""Puts messages together from healed records, one record at a time.  Pure.

Keeps both sides apart until they are whole; see `transcript` for what comes out.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

from runtimes.models.base import (
    Image,
    Kept,
    Message,
    Reasoning,
    Text,
    ToolOutput,
    ToolUse,
)
from runtimes.models.json_text import encode
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
    from collections.abc import Callable
    from typing import TypeAlias

    from runtimes.models.base import Part
    from runtimes.radian.records import AssistantPart, UserPart

    LoadImage: TypeAlias = Callable[[ImageFile], str | None]

TURN_INTERRUPTED = "(The turn before was interrupted.)"
SUMMARY = "Summary of the conversation so far:\n\n"
BEGINNING_MISSING = "(The beginning of the conversation is not known.)"
IMAGE_MISSING = "(A picture that is no longer there.)"
NO_OUTPUT = "(no output)"


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


class Building:
    """A conversation in the making."""

    def __init__(self, images: LoadImage) -> None:
        """Begin with nothing."""
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
        """Return all messages and end: nothing may be taken after this."""
        self._settle_answer()
        self._settle_user()
        if self._messages and self._messages[0].role == "assistant":
            self._messages.insert(0, Message("user", (Text(BEGINNING_MISSING),)))
        return tuple(self._messages)

    def fork(self) -> Building:
        """Return a second one that goes its own way from here."""
        twin = copy.copy(self)
        for name, held in vars(self).items():
            if isinstance(held, list | dict | set):
                setattr(twin, name, copy.copy(cast("object", held)))
        return twin

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
