"""The turns of a journal, taken apart for whoever judges them.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runtimes.models.base import Text
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    JobFinished,
    PermissionDecided,
    RunStarted,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.simulation.view import tags_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runtimes.radian.records import Entry, Record


@dataclass(slots=True)
class JournaledTurn:
    """The records of one turn, subagents' included where it does not say otherwise."""

    number: int
    origin: str
    asked: str = ""
    """What the prompt said."""
    end: TurnEnded | None = None
    rounds: list[list[str]] = field(default_factory=list[list[str]])
    """Ids of the calls of each answer of the session's own conversation."""
    order: list[str] = field(default_factory=list[str])
    """Ids of their results, as they were recorded."""
    results: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    decisions: dict[str, str] = field(default_factory=dict[str, str])
    decided_by: dict[str, str] = field(default_factory=dict[str, str])
    texts: dict[int, str] = field(default_factory=dict[int, str])
    """By number of a call of the model: what the session's own conversation said."""
    void: set[int] = field(default_factory=set[int])
    """Calls of the model that are no part of the conversation."""
    wrong: list[str] = field(default_factory=list[str])

    def take(self, record: Record) -> None:
        """Add a record."""
        own = getattr(record, "agent", None) is None
        if self.end is not None:
            self.wrong.append(f"{type(record).__name__} after the end of turn {self.number}")
        match record:
            case TurnEnded() if own:
                self.end = record
            case AssistantMessage() if own:
                self._answer(record)
            case Compacted(call=int() as call):
                self.void.add(call)
            case ToolResult(call_id=call_id):
                if call_id in self.results:
                    self.wrong.append(f"{call_id} has two results")
                self.results[call_id] = record
                if own:
                    self.order.append(call_id)
            case PermissionDecided(call_id=call_id):
                if call_id in self.decisions:
                    self.wrong.append(f"{call_id} was decided twice")
                self.decisions[call_id] = record.decision
                self.decided_by[call_id] = record.source
            case _:
                pass

    def faults(self, *, ended_well: bool) -> Iterator[str]:
        """Say what is wrong with it.  ``ended_well``: nothing was broken on purpose."""
        yield from self.wrong
        called = [call_id for calls in self.rounds for call_id in calls]
        known = [each for each in self.order if each in called]
        if known != [each for each in called if each in self.results]:
            yield f"results {self.order} of turn {self.number} are not in the order of {called}"
        if strays := set(self.order) - set(called):
            yield f"results of no call of turn {self.number}: {strays}"
        missing = [each for each in called if each not in self.results]
        if missing and self.end is not None and self.end.end == "Completed":
            yield f"turn {self.number} is completed, and {missing} have no result"
        early = [each for calls in self.rounds[:-1] for each in calls if each in missing]
        if early and ended_well:
            yield f"turn {self.number} went on without a result of {early}"

    def _answer(self, message: AssistantMessage) -> None:
        if message.call in self.texts or message.call in self.void:
            self.wrong.append(f"call {message.call} of turn {self.number} was answered twice")
        if message.superseded or message.finish == "failed":
            self.void.add(message.call)
            return
        self.texts[message.call] = "".join(p.text for p in message.parts if isinstance(p, Text))
        if calls := [part.call_id for part in message.parts if isinstance(part, ToolCall)]:
            self.rounds.append(calls)


@dataclass(slots=True)
class Turns:
    """All of a journal."""

    all: dict[int, JournaledTurn] = field(default_factory=dict[int, JournaledTurn])
    by_tag: dict[str, JournaledTurn] = field(default_factory=dict[str, JournaledTurn])
    wrong: list[str] = field(default_factory=list[str])
    ended_jobs: set[str] = field(default_factory=set[str])
    """Of the last process so far."""


def turns_of(entries: Iterable[Entry]) -> Turns:
    """Take the records of a journal apart."""
    turns, seq = Turns(), 0
    for entry in entries:
        record: Any = entry.record
        if entry.seq != seq + 1:
            turns.wrong.append(f"record {entry.seq} comes after {seq}")
        seq = entry.seq
        number = getattr(record, "turn", None)
        _see_job(turns, record)
        if isinstance(record, TurnStarted) and record.agent is None:
            _begin(turns, record)
        elif isinstance(number, int) and number in turns.all:
            if number != max(turns.all):
                turns.wrong.append(f"{type(record).__name__} of turn {number} in a later one")
            turns.all[number].take(record)
        elif isinstance(number, int):
            turns.wrong.append(f"{type(record).__name__} of turn {number}, which never began")
        if isinstance(record, UserMessage) and record.agent is None and record.source == "user":
            _asked(turns, record)
    return turns


def _see_job(turns: Turns, record: Record) -> None:
    """Each process numbers its jobs anew, and each of them ends once."""
    match record:
        case RunStarted():
            turns.ended_jobs.clear()
        case JobFinished(job_id):
            if job_id in turns.ended_jobs:
                turns.wrong.append(f"{job_id} has ended twice")
            turns.ended_jobs.add(job_id)
        case _:
            pass


def _begin(turns: Turns, record: TurnStarted) -> None:
    if record.turn <= max(turns.all, default=0):
        turns.wrong.append(f"turn {record.turn} began after {max(turns.all)}")
    turns.all[record.turn] = JournaledTurn(record.turn, record.origin)


def _asked(turns: Turns, record: UserMessage) -> None:
    for part in record.content:
        for tag in tags_in(part.text if isinstance(part, Text) else ""):
            if tag in turns.by_tag:
                turns.wrong.append(f"{tag} was asked twice")
            turns.by_tag[tag] = turns.all[record.turn]
            turns.all[record.turn].asked = getattr(part, "text", "")
