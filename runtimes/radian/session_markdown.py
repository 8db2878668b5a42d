"""A session as Markdown, for people.  Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runtimes.models.base import Kept, Reasoning, Text
from runtimes.models.json_text import encode
from runtimes.radian.fold import cost_of, fold_turn
from runtimes.radian.healing import heal
from runtimes.radian.message_building import resource_line
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    ImageFile,
    JobFinished,
    JobStarted,
    QuestionAnswered,
    Resource,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.sessions import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runtimes.radian.fold import Cost, TurnFold
    from runtimes.radian.records import Entry
    from runtimes.radian.session_export import Export

# Line breaks and tabs are text; the rest of the control characters may only play with terminals.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SPEAKERS = {"user": "User", "job": "Background job", "hook": "Hook"}
MICROS = 1_000_000


def markdown(export: Export) -> str:
    """Return the whole transcript."""
    lines = [*_head(export)]
    entries = export.entries()
    healed = list(heal(entries))
    names = _call_names(healed)
    for entry in healed:
        if isinstance(entry.record, TurnStarted) and entry.record.agent is None:
            fold = fold_turn(entries, entry.record.turn, price=export.price)
            lines += _turn_head(entry, entry.record, fold)
        lines += _record(export, entry, names)
    return _CONTROLS.sub("", "\n".join(lines)).rstrip("\n") + "\n"


def _head(export: Export) -> Iterator[str]:
    session = export.loaded.session
    yield from (f"# Session {session.session_id}", "")
    yield f"- Workspace: {_code(session.workspace)}"
    yield f"- Created: {export.loaded.entries[0].ts}"
    if session.parent is not None:
        yield f"- Forked from: {session.parent.session_id}, record {session.parent.seq}"
    cost = cost_of((each.record for each in export.entries()), export.price)
    yield from (f"- Cost: {_dollars(cost, 'unknown')}", "")


def _turn_head(entry: Entry, started: TurnStarted, fold: TurnFold) -> Iterator[str]:
    yield from (f"## Turn {started.turn}", "")
    why = f" ({fold.end.reason})" if fold.end.reason else ""
    told = (started.origin, entry.ts, f"{fold.end.end}{why}", _dollars(fold.cost))
    yield from (" · ".join(told), "")
    if fold.end.error:
        yield from (f"> {one_line(fold.end.error, 500)}", "")


def _record(export: Export, entry: Entry, names: dict[int, str]) -> Iterator[str]:
    match entry.record:
        case UserMessage() as message:
            yield from (f"### {_SPEAKERS[message.source]}{_agent(message.agent)}", "")
            for part in message.content:
                yield from (_user_part(part), "")
        case AssistantMessage() as message:
            yield from _answer(export, message)
        case ToolResult() as result:
            name = names.get(id(entry.record), result.call_id)
            took = "" if result.ms is None else f", {result.ms} ms"
            why = f": {one_line(result.reason, 200)}" if result.reason else ""
            whose = _agent(result.agent)
            yield from (f"Result of {_code(name)}{whose} ({result.status}{took}){why}", "")
            yield from _fence(result.output, "text")
        case QuestionAnswered(question=question, option=option):
            yield from (f"Asked: {one_line(question, 500)} — {option or 'no answer'}", "")
        case Compacted(summary=summary):
            yield from ("### Summary of what came before", "", summary, "")
        case TurnEnded(agent=str() as agent, end=end, reason=reason) if end != "Completed":
            why = f" ({reason})" if reason else ""
            yield from (f"Subagent {one_line(agent, 80)} ended: {end}{why}", "")
        case JobStarted(job_id=job_id, command=command):
            yield from (f"Job {job_id} started: {_code(command)}", "")
        case JobFinished(job_id=job_id) as job:
            how = "was killed" if job.killed else f"ended with code {job.exit_code}"
            yield from (f"Job {job_id} {how}", "")
        case _:
            pass


def _answer(export: Export, message: AssistantMessage) -> Iterator[str]:
    remarks = [
        remark
        for remark, holds in (
            ("interrupted", message.partial),
            ("replaced by another attempt", message.superseded),
            (f"failed: {one_line(message.error or '', 300)}", message.error is not None),
        )
        if holds
    ]
    told = f" ({'; '.join(remarks)})" if remarks else ""
    yield from (f"### Assistant{_agent(message.agent)}{told}", "")
    for part in message.parts:
        match part:
            case Text(text):
                yield from (text, "")
            case Reasoning(text) if export.reasoning:
                yield from ("\n".join(f"> {line}" for line in text.splitlines()), "")
            case ToolCall(_, name, arguments):
                yield from (f"Call of {_code(name)}", "")
                yield from _fence(_json(arguments), "json")
            case Kept(payload) if export.payload:
                yield from ("Kept for the provider", "")
                yield from _fence(_json(payload), "json")
            case _:
                pass
    if export.payload and message.payload is not None:
        yield from ("As the provider sent it", "")
        yield from _fence(_json(message.payload), "json")


def _user_part(part: Text | ImageFile | Resource) -> str:
    match part:
        case Text(text):
            return text
        case ImageFile(digest, mime_type):
            return f"(picture, {mime_type}, sha256 {digest})"
        case Resource():
            return resource_line(part)


def _call_names(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the tool's name for each result, by identity: ids of calls may come twice."""
    names: dict[int, str] = {}
    calls: dict[tuple[str | None, str], str] = {}
    for entry in entries:
        record = entry.record
        if isinstance(record, AssistantMessage):
            for part in record.parts:
                if isinstance(part, ToolCall):
                    calls[record.agent, part.call_id] = part.name
        elif isinstance(record, ToolResult):
            names[id(record)] = calls.get((record.agent, record.call_id), record.call_id)
    return names


def _fence(text: str, language: str) -> Iterator[str]:
    """Fence off text with more backticks than it has in a row."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}{language}", text.rstrip("\n"), fence, "")


def _code(text: str) -> str:
    line = one_line(text, 200)
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {line} {ticks}" if longest else f"`{line}`"


def _json(value: Any) -> str:
    import json

    return json.dumps(json.loads(encode(value)), indent=2, ensure_ascii=False)


def _agent(agent: str | None) -> str:
    return "" if agent is None else f" of subagent {one_line(agent, 80)}"


def _dollars(cost: Cost | None, unknown: str = "cost unknown") -> str:
    """Say what a cost is; of one that nobody knows, that."""
    if cost is None:
        return unknown
    remarks = [
        word
        for word, holds in (("incomplete", cost.incomplete), ("estimated", cost.estimated))
        if holds
    ]
    return f"${cost.micros / MICROS:.6f}" + (f" ({', '.join(remarks)})" if remarks else "")
