from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protocol.acp.cutting import (
    TEXT_PIECE_BYTES,
    cut_text,
    json_size,
    shorten_raw,
    shorten_text,
)
from protocol.jsonrpc import encode_result
from protocol.writable import without_surrogates
from tests.protocol.json_values import VALUES

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)


@settings(deadline=None)
@given(text=ANY_TEXT, limit=st.integers(8, 60))
@example(text="\ud83d\ude00" * 20, limit=9)
@example(text="\x00" * 50, limit=8)
def test_pieces_fit_and_join_to_the_whole(text: str, limit: int) -> None:
    pieces = list(cut_text(text, limit))

    assert "".join(pieces) == text
    assert all(pieces)
    assert all(json_size(piece) <= limit for piece in pieces)


@settings(deadline=None)
@given(text=ANY_TEXT, limit=st.integers(8, 60))
def test_what_arrives_joins_to_what_would_arrive_whole(text: str, limit: int) -> None:
    arrived = [json.loads(encode_result(1, piece))["result"] for piece in cut_text(text, limit)]

    assert "".join(arrived) == without_surrogates(text)


@pytest.mark.parametrize("character", ["x", "é", "\u20ac", "\U0001f600", '"', "\x01", "\n"])
def test_large_texts_take_few_pieces(character: str) -> None:
    text = character * 300_000
    pieces = list(cut_text(text))

    assert "".join(pieces) == text
    assert len(pieces) <= 2 * json_size(text) / TEXT_PIECE_BYTES + 1


def test_an_empty_text_has_no_pieces() -> None:
    assert list(cut_text("")) == []


def test_a_short_text_is_not_shortened() -> None:
    assert shorten_text("short", 100) == "short"
    assert shorten_raw({"a": ["short", 1, None]}, 100) == {"a": ["short", 1, None]}


def test_a_shortened_text_keeps_both_ends_and_says_what_is_gone() -> None:
    shorter = shorten_text("begin" + "x" * 100_000 + "end", 1000)

    assert shorter.startswith("beginx")
    assert shorter.endswith("xend")
    assert "characters left out" in shorter


@settings(deadline=None)
@given(text=st.text(max_size=3000), limit=st.integers(60, 500))
def test_a_shortened_text_fits(text: str, limit: int) -> None:
    assert json_size(shorten_text(text, limit)) <= limit


def test_long_texts_are_shortened_where_they_stand() -> None:
    value = {"code": 0, "out": "o" * 5000, "err": ["e" * 5000], "note": "kept"}

    shorter = shorten_raw(value, 4000)

    assert json_size(shorter) <= 4000
    assert (shorter["code"], shorter["note"]) == (0, "kept")
    assert "left out" in shorter["out"]
    assert "left out" in shorter["err"][0]


def test_a_value_of_many_small_parts_becomes_a_text() -> None:
    shorter = shorten_raw(list(range(100_000)), 2000)

    assert isinstance(shorter, str)
    assert shorter.startswith("[0,1,2")
    assert shorter.endswith("99999]")
    assert json_size(shorter) <= 2000


def test_a_deep_value_is_shortened_without_a_crash() -> None:
    value: Any = "x" * 10_000
    for _ in range(3000):
        value = [value]

    assert json_size(shorten_raw(value, 1000)) <= 1000


@settings(deadline=None)
@given(value=VALUES, limit=st.integers(100, 300))
def test_every_value_can_be_shortened(value: Any, limit: int) -> None:
    assert json_size(shorten_raw(value, limit)) <= limit
