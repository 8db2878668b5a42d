"""Finding turns by words."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.models.base import Reasoning, Text
from runtimes.radian.records import AssistantMessage, TurnStarted
from runtimes.radian.session_lists import hit_list
from runtimes.radian.session_search import Hit, search, search_journal
from runtimes.radian.sessions import Sessions
from tests.runtimes.radian.journals import (
    TS,
    asked,
    called,
    created,
    lines,
    make_session,
    result,
    said,
    turn,
)

if TYPE_CHECKING:
    from pathlib import Path

    from runtimes.radian.records import Record

ALPHABET = string.ascii_letters[:6] + 'ABC "\\/\n\té日öÖ{}:,'
SOME_TEXT = st.text(st.sampled_from(ALPHABET), max_size=12)
SOME_RECORDS = st.lists(
    st.builds(asked, st.integers(1, 3), SOME_TEXT)
    | st.builds(said, st.integers(1, 3), SOME_TEXT)
    | st.builds(result, st.integers(1, 3), st.just("c"), SOME_TEXT),
    max_size=12,
)


def _turns_with(records: list[Record], words: list[str]) -> list[int]:
    """Search the slow way."""
    found: list[int] = []
    for number in (1, 2, 3):
        texts = [
            part.text.lower()
            for each in records
            if getattr(each, "turn", None) == number
            for part in getattr(each, "content", getattr(each, "parts", ()))
            if isinstance(part, Text)
        ]
        if words and all(any(word in text for text in texts) for word in words):
            found.append(number)
    return found


@given(SOME_RECORDS, SOME_TEXT)
def test_the_fast_search_finds_what_the_slow_one_does(records: list[Record], query: str) -> None:
    words = list(dict.fromkeys(query.lower().split()))

    hits = search_journal(lines([created(), *records]), "s1", words)

    assert [hit.turn for hit in hits] == _turns_with(records, words)


def test_all_words_must_be_in_one_turn_whatever_their_case(tmp_path: Path) -> None:
    make_session(
        tmp_path,
        *turn(1, "Fix the GATE", "The lock is fixed"),
        *turn(2, "fix the door", "done"),
        workspace=tmp_path,
    )

    assert search(Sessions(str(tmp_path)), str(tmp_path), "fix Lock gate") == [
        Hit("s1", 1, TS, "Fix the GATE")
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("größe", True),
        ("GRÖSSE", False),
        ("日本", True),
        ('"quoted"', True),
        ("back\\slash", True),
        ("emoji🙂", True),
        ("type", False),
        ("UserMessage", False),
        ("printed", False),
        ("thought", False),
        ("path", False),
        ("subagent's", False),
        ("void", False),
        ("a\ud800b", False),
        (" ", False),
    ],
)
def test_what_was_asked_and_answered_is_searched_and_nothing_else(
    tmp_path: Path, query: str, *, found: bool
) -> None:
    make_session(
        tmp_path,
        TurnStarted(1, "prompt"),
        asked(1, 'Die GRÖßE of 日本 "quoted"'),
        called(1, "c"),
        result(1, "c", "printed by a tool"),
        said(1, "subagent's", agent="c"),
        said(1, "void", superseded=True),
        AssistantMessage(1, 2, (Reasoning("thought"), Text("a back\\slash emoji🙂")), "stop"),
        workspace=tmp_path,
    )

    assert bool(search(Sessions(str(tmp_path)), str(tmp_path), query)) is found


def test_bad_lines_are_passed_over_and_other_workspaces_too(tmp_path: Path) -> None:
    path = make_session(tmp_path, *turn(1, "needle", "yes"), workspace=tmp_path)
    head, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(head + b"\nbroken needle\n" + rest + b'{"needle": "to')
    make_session(tmp_path, *turn(1, "needle", "yes"), workspace="/", session_id="s2")

    hits = search(Sessions(str(tmp_path)), str(tmp_path), "needle")

    assert [(each.session_id, each.turn) for each in hits] == [("s1", 1)]


def test_an_excerpt_shows_the_surroundings_on_one_line() -> None:
    text = "x " * 100 + "before\nthe needle \x1b[31mis here " + "y " * 100

    (hit,) = search_journal(lines([created(), asked(1, text)]), "s1", ["needle"])

    assert hit.excerpt.startswith("…x x ")
    assert "before the needle [31mis here y" in hit.excerpt
    assert hit.excerpt.endswith("y…")
    assert len(hit.excerpt) < 130


def test_hits_are_text_or_json() -> None:
    hit = Hit("s1", 3, TS, "the needle")

    assert hit_list([hit], "text") == "s1  turn 3  the needle\n"
    row = {"type": "Hit", "session_id": "s1", "turn": 3, "ts": TS, "excerpt": "the needle"}
    assert orjson.loads(hit_list([hit], "jsonl")) == row
    assert orjson.loads(hit_list([hit], "json")) == {"type": "HitList", "schema": 1, "hits": [row]}
