"""Journals for tests: values, arbitrary ones, and small real files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from hypothesis import strategies as st

from runtimes.models.base import Kept, Reasoning, Text, Usage
from runtimes.radian.journal import create_journal
from runtimes.radian.record_json import to_table
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    Entry,
    ImageFile,
    JobFinished,
    JobStarted,
    Parent,
    PermissionDecided,
    QuestionAnswered,
    Resource,
    RunStarted,
    SessionCreated,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from runtimes.radian.journal import Journal
    from runtimes.radian.records import Record

TS = "2026-11-30T10:15:00.123Z"
NOW = 1796033700.123


def entries(*records: Record) -> list[Entry]:
    """Number records from 1."""
    return [Entry(seq, TS, record) for seq, record in enumerate(records, 1)]


def lines(records: Iterable[Record]) -> bytes:
    """Return records as the lines of a journal."""
    return b"".join(orjson.dumps(to_table(each)) + b"\n" for each in entries(*records))


def created(workspace: object = "/w", session_id: str = "s1") -> SessionCreated:
    """Return the first record of a journal."""
    return SessionCreated(session_id, str(workspace), "0.1.0")


def asked(turn: int, text: str, **more: Any) -> UserMessage:
    """Return a prompt."""
    return UserMessage(turn, (Text(text),), **more)


def said(turn: int, text: str, call: int = 1, **more: Any) -> AssistantMessage:
    """Return an answer without calls."""
    keys: dict[str, Any] = {"finish": "stop", **more}
    return AssistantMessage(turn, call, (Text(text),), **keys)


def called(turn: int, *call_ids: str, call: int = 1, **more: Any) -> AssistantMessage:
    """Return an answer that only calls tools."""
    parts = tuple(ToolCall(each, "read", {"path": "a.txt"}) for each in call_ids)
    keys: dict[str, Any] = {"finish": "tools", **more}
    return AssistantMessage(turn, call, parts, **keys)


def result(turn: int, call_id: str, output: str = "done", **more: Any) -> ToolResult:
    """Return the result of a call."""
    keys: dict[str, Any] = {"status": "completed", "output": output, **more}
    return ToolResult(turn, call_id, **keys)


def turn(number: int, question: str, answer: str) -> tuple[Record, ...]:
    """Return a whole turn with one answer."""
    return (
        TurnStarted(number, "prompt"),
        asked(number, question),
        said(number, answer, cost_micros=10, usage=Usage(7, 3)),
        TurnEnded(number, "Completed", wall_ms=20),
    )


def make_session(
    folder: Path, *records: Record, workspace: object = "/w", session_id: str = "s1"
) -> Path:
    """Write the journal of a session, closed, and return where it is."""
    path = folder / f"{session_id}.jsonl"
    journal, _ = open_new(path, created(workspace, session_id))
    journal.append(records, sync=False)
    journal.close()
    return path


def open_new(path: Path, first: SessionCreated) -> tuple[Journal, Entry]:
    """Make a journal whose clock stands still."""
    return create_journal(str(path), first, now=lambda: NOW)


# --- arbitrary records

TEXTS = st.text(max_size=8)
CALL_IDS = st.sampled_from(["c1", "c2", "c3"])
TURNS = st.integers(1, 3)
COUNTS = st.integers(0, 2**53)
MAYBE = st.none() | COUNTS
AGENTS = st.sampled_from([None, None, None, "c1"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
TABLES = st.dictionaries(TEXTS, VALUES, max_size=2)
USER_PARTS = (
    st.builds(Text, TEXTS)
    | st.builds(ImageFile, st.just("ab" * 32), st.just("image/png"))
    | st.builds(Resource, TEXTS, TEXTS, st.none() | TEXTS)
)
ASSISTANT_PARTS = (
    st.builds(Text, TEXTS)
    | st.builds(Reasoning, TEXTS)
    | st.builds(ToolCall, CALL_IDS, st.just("read"), TABLES)
    | st.builds(Kept, TABLES)
)
USAGES = st.none() | st.builds(Usage, COUNTS, COUNTS, MAYBE, MAYBE, MAYBE)
FINISHES = st.sampled_from(
    ["stop", "tools", "length", "refused", "pause", "broken", "failed", "cancelled"]
)
ASSISTANT = st.builds(
    AssistantMessage,
    TURNS,
    st.integers(1, 9),
    st.lists(ASSISTANT_PARTS, max_size=4).map(tuple),
    FINISHES,
    partial=st.booleans(),
    continues=st.booleans(),
    superseded=st.booleans(),
    usage=USAGES,
    cost_micros=MAYBE,
    model_ms=MAYBE,
    payload=st.none() | TABLES,
    agent=AGENTS,
)
RECORDS: st.SearchStrategy[Record] = st.one_of(
    st.builds(TurnStarted, TURNS, st.sampled_from(["prompt", "wake"])),
    st.builds(TurnStarted, TURNS, st.just("subagent"), agent=st.just("c1")),
    st.builds(UserMessage, TURNS, st.lists(USER_PARTS, max_size=3).map(tuple), agent=AGENTS),
    ASSISTANT,
    ASSISTANT,
    st.builds(ToolResult, TURNS, CALL_IDS, st.sampled_from(["completed", "failed"]), TEXTS),
    st.builds(ToolResult, TURNS, CALL_IDS, st.just("completed"), TEXTS, ms=MAYBE, agent=AGENTS),
    st.builds(
        PermissionDecided,
        TURNS,
        CALL_IDS,
        st.sampled_from(["allow_once", "allow_always", "deny"]),
        st.sampled_from(["profile", "user", "nobody"]),
        wait_ms=MAYBE,
    ),
    st.builds(QuestionAnswered, TURNS, CALL_IDS, TEXTS, st.none() | TEXTS, MAYBE),
    st.builds(Compacted, TURNS, TEXTS, st.integers(1, 30), usage=USAGES, agent=AGENTS),
    st.builds(JobStarted, TEXTS, TEXTS, st.none() | TURNS),
    st.builds(JobFinished, TEXTS, TEXTS, MAYBE, st.booleans(), st.none() | TURNS),
    st.builds(
        TurnEnded,
        TURNS,
        st.sampled_from(["Completed", "Interrupted", "Incomplete", "Failed"]),
        wall_ms=MAYBE,
        agent=AGENTS,
    ),
)
HEADS = st.builds(SessionCreated, TEXTS, TEXTS, TEXTS, st.none() | st.builds(Parent, TEXTS, COUNTS))
RUNS = st.builds(RunStarted, TEXTS, TEXTS, TEXTS, st.booleans(), st.none() | TEXTS, TABLES)
JOURNALS = st.lists(RECORDS, max_size=25).map(lambda each: entries(created(), *each))


def at(sequence: Sequence[Entry], seq: int) -> Record:
    """Return the record with a number."""
    return next(each.record for each in sequence if each.seq == seq)
