"""The guide to the journal says what the code writes."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from runtimes.models.base import Kept, Reasoning, Text, Usage
from runtimes.models.json_text import encode
from runtimes.radian.journal_read import load
from runtimes.radian.record_json import RECORD_TYPES, to_table
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    Entry,
    ImageFile,
    JobFinished,
    JobStarted,
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
from tests.shared import ROOT

if TYPE_CHECKING:
    from runtimes.radian.records import Record

GUIDE = (ROOT / "docs" / "journal.md").read_text(encoding="utf-8")
TS = "2026-11-30T10:15:00.123Z"
FLAGS = {"max_model_calls": 50, "allow": ["shell(make *)"], "yes": True}
EXAMPLES: tuple[Record, ...] = (
    SessionCreated("01999d2e-5f7b-7c3a-9b1e-2f6a4c8d0e11", "/home/ada/box", "0.1.0"),
    RunStarted("local", "qwen", "workspace", trusted=True, effort="low", flags=FLAGS),
    TurnStarted(1, "prompt"),
    UserMessage(
        1,
        (
            Text("Why does this fail?"),
            ImageFile("9f86d081884c7d65", "image/png"),
            Resource("file:///home/ada/box/app.py", "app.py"),
        ),
    ),
    AssistantMessage(
        1,
        1,
        (
            Reasoning("The log will tell."),
            Kept({"from": "anthropic", "signature": "EqQB"}),
            Text("Let me look."),
            ToolCall("call_1", "read", {"path": "app.log"}),
            ToolCall("call_2", "ask_user", {"questions": [{"question": "Which server?"}]}),
        ),
        "tools",
        usage=Usage(1200, 60, cache_read_tokens=1000, reasoning_tokens=20),
        context_window=32768,
        cost_micros=412,
        price_source="config",
        model_ms=1840,
        ttft_ms=320,
    ),
    PermissionDecided(1, "call_1", "allow_once", "user", wait_ms=2100),
    ToolResult(
        1, "call_1", "completed", "Connection refused…", ms=3, full_output_file="call_1.txt"
    ),
    QuestionAnswered(1, "call_2", "Which server?", "staging", wait_ms=5200),
    JobStarted("job-1", "make watch", 1),
    Compacted(1, "Ada's app can't reach staging.", 4, tokens_before=30100, call=2),
    JobFinished("job-1", "make watch", killed=True),
    TurnEnded(1, "Completed", wall_ms=9400),
)
LINES = [encode(to_table(Entry(seq, TS, each))).decode() for seq, each in enumerate(EXAMPLES, 1)]


def _section(name: str) -> str:
    found = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", GUIDE, re.DOTALL | re.MULTILINE)
    assert found is not None, name
    return found[1]


@pytest.mark.parametrize("line", LINES, ids=lambda line: orjson.loads(line)["type"])
def test_every_type_has_a_section_with_a_line_as_it_is_written(line: str) -> None:
    assert f"```json\n{line}\n```" in _section(orjson.loads(line)["type"])


def test_all_lines_of_the_guide_make_a_journal() -> None:
    lines = re.findall(r"```json\n(.*?)\n```", GUIDE)

    loaded = load("".join(f"{line}\n" for line in lines).encode(), "guide")

    assert tuple(each.record for each in loaded.entries) == EXAMPLES
    assert loaded.warnings == ()


@pytest.mark.parametrize("cls", RECORD_TYPES, ids=lambda cls: cls.__name__)
def test_every_key_is_explained_where_it_occurs(cls: Any) -> None:
    section = _section(cls.__name__)

    assert [each.name for each in fields(cls) if f"`{each.name}`" not in section] == []
