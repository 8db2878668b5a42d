"""A journal as the updates of `session/load`: the conversation, in its order.  Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from protocol.acp.cutting import cut_text, shorten_raw
from protocol.acp.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    Location,
    ToolCall,
    UserMessageChunk,
)
from runtimes.models.base import Reasoning, Text
from runtimes.models.json_text import tables
from runtimes.radian.healing import heal
from runtimes.radian.message_building import resource_line
from runtimes.radian.records import (
    AssistantMessage,
    ImageFile,
    Resource,
    ToolResult,
    UserMessage,
)
from runtimes.radian.records import ToolCall as CallRecord
from runtimes.radian.sessions import one_line
from runtimes.radian.updates import PART_BYTES, finished, message_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from protocol.acp.updates import Update
    from runtimes.radian.records import Entry, Record, UserPart
    from runtimes.radian.tools.base import Tool

TITLED_BY = ("path", "pattern", "command", "url", "description", "prompt")
"""Inputs that say best what a call is about; the first that is there is shown."""
MAX_TITLE = 120


def replay(entries: Iterable[Entry], workspace: str, tools: Mapping[str, Tool]) -> Iterator[Update]:
    """Yield the updates of a journal; each call is opened and closed, whatever ended its turn.

    What belongs to a subagent or was replaced by another attempt is no part of it.
    """
    return _Replay(workspace, tools).of(entries)


class _Replay:
    def __init__(self, workspace: str, tools: Mapping[str, Tool]) -> None:
        self._workspace = workspace
        self._tools = tools
        self._used: set[str] = set()
        self._users = 0

    def of(self, entries: Iterable[Entry]) -> Iterator[Update]:
        for record, results in _with_results(entries):
            match record:
                case UserMessage():
                    yield from self._user(record)
                case AssistantMessage(superseded=False):
                    yield from self._answer(record, results)
                case _:
                    pass

    def _user(self, message: UserMessage) -> Iterator[Update]:
        self._users += 1
        for part in message.content:
            for piece in cut_text(_user_text(part)):
                yield UserMessageChunk(piece, f"user-{self._users}")

    def _answer(self, message: AssistantMessage, results: list[ToolResult]) -> Iterator[Update]:
        name = message_id(message.turn, message.call)
        for part in message.parts:
            match part:
                case Reasoning(text):
                    yield from (
                        AgentThoughtChunk(each, f"{name}-thought") for each in cut_text(text)
                    )
                case Text(text):
                    yield from (AgentMessageChunk(each, name) for each in cut_text(text))
                case CallRecord():
                    call = self._call(part)
                    yield call
                    yield finished(call.tool_call_id, _taken(results, part.call_id))
                case _:
                    pass

    def _call(self, call: CallRecord) -> ToolCall:
        sent, number = call.call_id, 1
        while sent in self._used:  # some servers number anew in each answer
            number += 1
            sent = f"{call.call_id}-{number}"
        self._used.add(sent)
        tool = self._tools.get(call.name)
        given = tables([call.input])
        values: Mapping[str, Any] = given[0] if given else {}
        return ToolCall(
            tool_call_id=sent,
            title=_title(call.name, values),
            kind="other" if tool is None else tool.kind,
            status="pending",
            raw_input=shorten_raw(call.input, PART_BYTES),
            locations=self._locations(values),
        )

    def _locations(self, values: Mapping[str, Any]) -> tuple[Location, ...] | None:
        path = values.get("path")
        if type(path) is not str or not path or "\0" in path:
            return None
        return (Location(os.path.normpath(os.path.join(self._workspace, path))),)


def _with_results(entries: Iterable[Entry]) -> list[tuple[Record, list[ToolResult]]]:
    """Return the conversation's own messages, each answer with the results of all its calls.

    Calls of one answer may have run side by side; in a replay each is followed by its own end.
    """
    found: list[tuple[Record, list[ToolResult]]] = []
    results: list[ToolResult] = []
    for entry in heal(entries):
        record = entry.record
        if getattr(record, "agent", None) is not None:
            continue
        match record:
            case ToolResult():
                results.append(record)
            case AssistantMessage():
                results = []
                found.append((record, results))
            case UserMessage():
                found.append((record, []))
            case _:
                pass
    return found


def _taken(results: list[ToolResult], call_id: str) -> ToolResult:
    """Take the first result of a call; healed records have one for each."""
    at = next(at for at, each in enumerate(results) if each.call_id == call_id)
    return results.pop(at)


def _user_text(part: UserPart) -> str:
    match part:
        case Text(text):
            return text
        case ImageFile(mime_type=mime_type):
            return f"[picture: {mime_type}]"
        case Resource():
            return resource_line(part)


def _title(name: str, values: Mapping[str, Any]) -> str:
    texts = (values[key] for key in TITLED_BY if type(values.get(key)) is str)
    return one_line(f"{name} {next(texts, '')}", MAX_TITLE)
