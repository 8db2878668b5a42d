"""Exports: what they show, and what they leave out unless asked."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from runtimes.models.base import Kept, Reasoning, Text, Usage
from runtimes.radian.fold import Cost, cost_table
from runtimes.radian.journal_read import load
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    ImageFile,
    JobFinished,
    JobStarted,
    Parent,
    QuestionAnswered,
    Resource,
    SessionCreated,
    ToolCall,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from runtimes.radian.session_cut import cut_at
from runtimes.radian.session_errors import ExportExists
from runtimes.radian.session_export import Export, write_export
from tests.runtimes.radian.journals import asked, lines, result, said, turn

if TYPE_CHECKING:
    from pathlib import Path

    from runtimes.radian.records import Record

ANSWER = AssistantMessage(
    1,
    1,
    (
        Reasoning("secret thought"),
        Kept({"signature": "SIG"}),
        Text("Look:"),
        ToolCall("c", "read", {"path": "a"}),
    ),
    "tools",
    usage=Usage(10, 5),
    cost_micros=1_500,
    payload={"raw": "RAW"},
)
JOURNAL: tuple[Record, ...] = (
    SessionCreated("s1", "/w", "0.1.0"),
    TurnStarted(1, "prompt"),
    asked(1, "Read a"),
    ANSWER,
    result(1, "c", "a ``` fence\x1b[2J", ms=12),
    said(1, "Done", call=2),
    TurnEnded(1, "Completed", wall_ms=40),
    TurnStarted(2, "prompt"),
    asked(2, "again"),
    AssistantMessage(2, 1, (Text("ha"), ToolCall("d", "shell", {})), "cancelled", partial=True),
    TurnEnded(2, "Failed", "", "model", error="it broke"),
    *turn(3, "more", "yes"),
)


def export(at: str | None = None, **more: Any) -> Export:
    data = lines(JOURNAL) + b'{"v":1,"seq":16,"ts":"","type":"Sang"}\n'
    loaded = load(data, "j")
    return Export(loaded, data, cut_at(loaded.entries, at), **more)


def test_markdown_reads_as_a_transcript() -> None:
    text = export("1").text("markdown")

    assert text == (
        "# Session s1\n\n"
        "- Workspace: `/w`\n- Created: 2026-11-30T10:15:00.123Z\n- Cost: $0.001500 (incomplete)\n\n"
        "## Turn 1\n\nprompt · 2026-11-30T10:15:00.123Z · Completed · $0.001500 (incomplete)\n\n"
        "### User\n\nRead a\n\n"
        "### Assistant\n\nLook:\n\n"
        'Call of `read`\n\n```json\n{\n  "path": "a"\n}\n```\n\n'
        "Result of `read` (completed, 12 ms)\n\n````text\na ``` fence[2J\n````\n\n"
        "### Assistant\n\nDone\n"
    )


def test_markdown_tells_interruptions_and_failures() -> None:
    text = export("2").text("markdown")

    assert "### Assistant (interrupted)\n\nha\n" in text
    assert "Result of `shell` (failed): interrupted" in text
    assert "> it broke" in text
    assert "Turn 3" not in text


def test_markdown_knows_every_kind_of_record() -> None:
    records: list[Record] = [
        SessionCreated("s`1", "/w", "0.1.0", Parent("s0", 9)),
        TurnStarted(1, "wake"),
        UserMessage(1, (ImageFile("ab", "image/png"), Resource("file:///x", "x")), source="job"),
        AssistantMessage(1, 1, (), "failed", error="no\nroom", superseded=True),
        QuestionAnswered(1, "c", "Which?", "This"),
        Compacted(1, "the summary", 1),
        JobStarted("j1", "make `all`", 1),
        JobFinished("j1", "make", killed=True),
        JobFinished("j2", "make", exit_code=2),
        said(1, "found", agent="c"),
        TurnEnded(1, "Incomplete", "truncated"),
    ]
    data = lines(records)

    text = Export(load(data, "j"), data, 99).text("markdown")

    for piece in (
        "Forked from: s0, record 9",
        "- Cost: unknown\n",
        "wake · 2026-11-30T10:15:00.123Z · Incomplete (truncated) · cost unknown",
        "### Background job\n\n(picture, image/png, sha256 ab)\n\nx: file:///x",
        "### Assistant (replaced by another attempt; failed: no room)",
        "Asked: Which? — This",
        "the summary",
        "Job j1 started: `` make `all` ``",
        "Job j1 was killed",
        "Job j2 ended with code 2",
        "### Assistant of subagent c",
    ):
        assert piece in text


@pytest.mark.parametrize("form", ["markdown", "json", "jsonl"])
def test_reasoning_and_what_providers_sent_come_only_when_asked_for(form: Any) -> None:
    def shown(**more: Any) -> list[bool]:
        text = export(**more).text(form)
        return [piece in text for piece in ("secret thought", "SIG", "RAW", "Look:")]

    assert shown() == [False, False, False, True]
    assert shown(reasoning=True) == [True, False, False, True]
    assert shown(payload=True) == [False, True, True, True]
    assert shown(reasoning=True, payload=True) == [True, True, True, True]


def test_lines_are_the_records_up_to_the_cut() -> None:
    whole = export(reasoning=True, payload=True).text("jsonl")

    assert whole.encode() == lines(JOURNAL)
    assert export("1").text("jsonl").count("\n") == 7


def test_one_object_has_the_turns_with_what_they_came_to() -> None:
    table = orjson.loads(export().text("json"))

    assert {key: each for key, each in table.items() if key != "turns"} == {
        "type": "Export",
        "schema": 1,
        "session_id": "s1",
        "workspace": "/w",
        "version": "0.1.0",
        "created": "2026-11-30T10:15:00.123Z",
        "cost": {"micros": 1510, "incomplete": True, "estimated": False},
    }
    first, second, _ = table["turns"]
    assert (first["text"], first["end"], first["run_metrics"]["tool_calls"]) == (
        "Done",
        "Completed",
        1,
    )
    assert [each["type"] for each in first["records"]] == [
        "UserMessage",
        "AssistantMessage",
        "ToolResult",
        "AssistantMessage",
    ]
    assert second["error"] == "it broke"
    assert second["records"][-1]["reason"] == "interrupted"
    assert second["run_metrics"]["tool_calls"] == 0


def test_old_calls_can_be_priced_now() -> None:
    table = export(price=lambda _: 7).table()

    assert table["cost"] == {"micros": 1510, "incomplete": True, "estimated": False}
    assert cost_table(Cost(1, estimated=True)) == {
        "micros": 1,
        "incomplete": False,
        "estimated": True,
    }
    assert cost_table(None) is None


def test_an_export_is_written_whole_and_never_over_a_file_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "out.md"

    write_export(str(path), "one\ud800\n", force=False)
    with pytest.raises(ExportExists, match=r"out\.md exists already"):
        write_export(str(path), "two\n", force=False)
    assert path.read_text() == "one?\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    link = tmp_path / "link.md"
    link.symlink_to(path)
    write_export(str(link), "three\n", force=True)
    assert path.read_text() == "three\n"
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link.md", "out.md"]
