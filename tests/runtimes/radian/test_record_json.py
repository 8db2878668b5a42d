"""Records are JSON objects and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given

from runtimes.radian.record_json import OddRecord, UnknownRecord, from_table, to_table
from runtimes.radian.records import Entry, RunStarted, ToolResult, TurnEnded
from tests.runtimes.radian.journals import HEADS, RECORDS, RUNS, TS, asked, said

if TYPE_CHECKING:
    from runtimes.radian.records import Record


@given(RECORDS | HEADS | RUNS)
def test_every_record_comes_back_as_it_was(record: Record) -> None:
    table = orjson.loads(orjson.dumps(to_table(Entry(3, TS, record))))

    assert from_table(table) == record
    assert (table["v"], table["seq"], table["ts"]) == (1, 3, TS)


def test_what_is_not_known_is_not_written() -> None:
    table = to_table(Entry(1, TS, RunStarted("play", "m", "workspace", trusted=False)))

    assert table.keys() == {"v", "seq", "ts", "type", "provider", "model", "profile", "trusted"}


def test_keys_that_are_not_known_are_passed_over() -> None:
    table = to_table(Entry(1, TS, asked(1, "hi")))
    table["content"][0]["mood"] = "good"
    table["content"].append({"type": "hologram"})

    assert from_table({**table, "weather": [1]}) == asked(1, "hi")


def test_null_counts_as_absent() -> None:
    table = to_table(Entry(1, TS, said(1, "hi")))

    assert from_table({**table, "usage": None, "partial": None}) == said(1, "hi")


@pytest.mark.parametrize("kind", ["Teleported", None, 7, ["TurnEnded"], ""])
def test_a_type_that_is_not_known_is_told(kind: Any) -> None:
    with pytest.raises(UnknownRecord):
        from_table({"type": kind})


@pytest.mark.parametrize("part", ["Text", "Usage", "Parent", "ToolCall"])
def test_a_part_is_no_record(part: str) -> None:
    with pytest.raises(UnknownRecord):
        from_table({"type": part, "text": "x"})


@pytest.mark.parametrize(
    "change",
    [{"turn": "1"}, {"turn": None}, {"turn": True}, {"end": "Exploded"}, {"wall_ms": 1.5}],
)
def test_a_known_type_with_something_odd_is_told(change: dict[str, Any]) -> None:
    table = to_table(Entry(1, TS, TurnEnded(1, "Completed")))

    with pytest.raises(OddRecord, match=r"TurnEnded\."):
        from_table({**table, **change})


def test_an_odd_part_makes_the_record_odd() -> None:
    table = to_table(Entry(1, TS, asked(1, "hi")))
    table["content"][0]["text"] = 7

    with pytest.raises(OddRecord):
        from_table(table)


def test_a_missing_required_key_makes_it_odd() -> None:
    table = to_table(Entry(1, TS, ToolResult(1, "c", "completed", "out")))
    del table["output"]

    with pytest.raises(OddRecord, match="output"):
        from_table(table)
