"""Reading journals: whole, torn, odd, damaged, newer."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.radian.journal_read import load, read_journal
from runtimes.radian.records import Entry
from runtimes.radian.session_errors import JournalDamaged, JournalNewer
from tests.runtimes.radian.journals import (
    RECORDS,
    TS,
    asked,
    created,
    entries,
    lines,
    make_session,
    said,
    turn,
)

if TYPE_CHECKING:
    from pathlib import Path

    from runtimes.radian.records import Record

NEWLINE = b"\n"
WHOLE = lines([created(), *turn(1, "hi", "hello")])


def raw(**table: Any) -> bytes:
    return orjson.dumps(table) + b"\n"


@given(st.lists(RECORDS, max_size=10))
def test_what_was_written_is_read(records: list[Record]) -> None:
    loaded = load(lines([created(), *records]), "j")

    assert list(loaded.entries) == entries(created(), *records)
    assert loaded.warnings == ()
    assert loaded.last_seq == len(records) + 1


@given(st.integers(0, len(WHOLE) - 1))
def test_cut_anywhere_it_loads_what_is_whole_and_says_which_line_is_torn(cut: int) -> None:
    data = WHOLE[:cut]
    if data.find(b"\n") < 0 and cut < WHOLE.find(b"\n"):
        with pytest.raises(JournalDamaged, match="j:1: "):
            load(data, "j")
        return

    loaded = load(data, "j")

    whole = data.count(b"\n") + loaded.unended
    assert list(loaded.entries) == entries(created(), *turn(1, "hi", "hello"))[:whole]
    assert len(loaded.warnings) == (not data.endswith(b"\n"))
    assert all(f"j:{data.count(NEWLINE) + 1}: " in each for each in loaded.warnings)
    assert data[: loaded.whole].endswith(b"\n") or loaded.unended


def test_zeros_that_a_power_cut_left_at_the_end_are_torn() -> None:
    loaded = load(WHOLE + b"\0" * 100, "j")

    assert loaded.whole == len(WHOLE)
    assert loaded.warnings == ("j:6: the last line is torn, left out",)


@pytest.mark.parametrize("line", [b'{"v":1,"se', b"\0\0\0", b"[1]", b'"text"', b"\xff{}"])
def test_a_bad_line_in_the_middle_is_an_error_that_names_it(line: bytes) -> None:
    head, *rest = WHOLE.splitlines(keepends=True)

    with pytest.raises(JournalDamaged, match=r"^j:2: is no record$") as error:
        load(b"".join([head, line + b"\n", *rest]), "j")

    assert error.value.line == 2


def test_blank_lines_are_no_damage() -> None:
    assert load(WHOLE.replace(b"\n", b"\n\n \r\n"), "j").entries == load(WHOLE, "j").entries


@pytest.mark.parametrize("data", [b"", b"\n", lines(turn(1, "hi", "hello")), b"{}\n"])
def test_what_does_not_begin_a_session_is_no_journal(data: bytes) -> None:
    with pytest.raises(JournalDamaged, match="SessionCreated"):
        load(data, "j")


def test_types_that_are_not_known_are_passed_over_with_one_warning_each() -> None:
    data = lines([created()]) + b"".join(
        raw(v=1, seq=seq, ts=TS, type=kind, joy=7)
        for seq, kind in enumerate(["Sang", "Danced", "Sang"], 2)
    )

    loaded = load(data, "j")

    assert len(loaded.entries) == 1
    assert loaded.last_seq == 4
    assert loaded.warnings == (
        "j:2: a record has an unknown type, Sang and 1 more",
        "j:3: a record has an unknown type, Danced",
    )


def test_a_known_record_that_is_odd_is_passed_over_with_a_warning() -> None:
    loaded = load(WHOLE + raw(v=1, seq=6, ts=TS, type="TurnStarted", turn="two"), "j")

    assert loaded.warnings == ("j:6: a record has something odd, TurnStarted.turn is str",)
    assert loaded.last_seq == 6


def test_a_record_without_a_number_is_used_and_no_number_is_given_twice() -> None:
    table = orjson.loads(lines([asked(2, "more")]))
    del table["seq"]

    loaded = load(WHOLE + raw(**table), "j")

    assert loaded.entries[-1] == Entry(5, TS, asked(2, "more"))
    assert loaded.last_seq == 5
    assert loaded.warnings == ("j:6: a record has no number",)


def test_numbers_that_jump_or_come_back_are_told_and_never_repeated() -> None:
    later = [raw(**{**orjson.loads(lines([said(2, "x")])), "seq": seq}) for seq in (9, 7)]

    loaded = load(WHOLE + b"".join(later), "j")

    assert loaded.last_seq == 9
    assert loaded.warnings == (
        "j:6: a record has a number that leaves a gap",
        "j:7: a record has a number that was there before",
    )


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(JournalNewer, match="j:6: written in journal format 2"):
        load(WHOLE + raw(v=2, seq=6, ts=TS, type="TurnStarted", turn=2, origin="prompt"), "j")


def test_a_record_without_a_format_is_of_this_one() -> None:
    tables = [orjson.loads(line) for line in WHOLE.splitlines()]
    data = b"".join(
        raw(**{key: value for key, value in each.items() if key != "v"}) for each in tables
    )

    assert load(data, "j").entries == load(WHOLE, "j").entries


def test_a_file_is_read_and_the_last_turn_known(tmp_path: Path) -> None:
    path = make_session(tmp_path, *turn(1, "a", "b"), *turn(2, "c", "d"))

    loaded = read_journal(str(path))

    assert loaded.session == created()
    assert loaded.last_turn == 2


def test_the_collector_is_as_it_was_after_loading() -> None:
    assert gc.isenabled()

    load(WHOLE, "j")

    assert gc.isenabled()
