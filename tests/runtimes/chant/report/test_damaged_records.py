"""Runs on the ledger that somebody else's tool wrote: told as damaged, or shown; never a crash."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from ops.run_files import read_line
from runtimes.chant.report.html import html_page
from runtimes.chant.report.markdown import markdown
from runtimes.chant.runs_shown import run_row, run_text, runs_text
from tests.runtimes.chant.report.records import failed_run

if TYPE_CHECKING:
    from collections.abc import Iterator

STRANGE: list[Any] = [None, [1], {"a": 1}, "\u2028x", "", 7, -1, 10**30, 1e308, True]
MISSING = object()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where each value of a record lies."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield (*path, key)
        if isinstance(each, dict | list):
            yield from places(each, (*path, key))


def damaged(path: tuple[Any, ...], value: Any) -> bytes:
    record = deepcopy(failed_run())
    above: Any = record
    for key in path[:-1]:
        above = above[key]
    if value is MISSING:
        del above[path[-1]]
    else:
        above[path[-1]] = value
    return json.dumps(record).encode()


@pytest.mark.parametrize("path", [*places(failed_run())], ids=lambda each: ".".join(map(str, each)))
def test_a_member_of_another_kind_makes_a_line_damaged_and_nothing_else(
    path: tuple[Any, ...],
) -> None:
    for value in (*STRANGE, MISSING):
        record = read_line(damaged(path, value))
        if record is None:
            continue
        run_row(record)
        json.dumps(record)
        assert runs_text([record])
        assert run_text(record)
        assert markdown(record)
        assert html_page(record, "0")


def test_a_whole_record_is_no_damage() -> None:
    assert read_line(json.dumps(failed_run()).encode()) == failed_run()


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b"\xff", b""])
def test_what_is_no_json_for_us_is_a_damaged_line(line: bytes) -> None:
    """100,000 brackets once were a traceback in everything that reads the ledger."""
    assert read_line(line) is None
