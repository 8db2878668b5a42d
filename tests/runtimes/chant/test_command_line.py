"""The tokenizer: what a shell would read, a clear reason for what nobody can."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.chant.command_line import MAX_TEXT_BYTES, Unreadable, split, too_long

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
LINES = st.text(st.sampled_from("ab '\"\\\t\n$|&*é"), max_size=30)


@given(st.lists(WORDS))
def test_words_quoted_for_a_shell_come_back_as_they_were(words: list[str]) -> None:
    assert split(shlex.join(words)) == tuple(words)


@given(LINES)
def test_splitting_agrees_with_the_standard_library(line: str) -> None:
    try:
        expected = tuple(shlex.split(line))
    except ValueError:
        assert isinstance(split(line), Unreadable)
    else:
        assert split(line) == expected


@given(st.text(max_size=50))
def test_no_text_raises(text: str) -> None:
    assert isinstance(split(text), tuple | Unreadable)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        (" \t\r\n ", ()),
        ("chant run prod-apply --env prod", ("chant", "run", "prod-apply", "--env", "prod")),
        ("run 'two words' \"and 'more'\"", ("run", "two words", "and 'more'")),
        ("run a''b \"\" ''", ("run", "ab", "", "")),
        (r"a\ b \"c\' \\", ("a b", "\"c'", "\\")),
        (r"""'a\d' "a\d" "a\"d" "a\\d" """, (r"a\d", r"a\d", 'a"d', r"a\d")),
        ("a $B && c | d > *.e # f", ("a", "$B", "&&", "c", "|", "d", ">", "*.e", "#", "f")),
        ("a\N{NO-BREAK SPACE}b\N{LINE SEPARATOR}c", ("a\N{NO-BREAK SPACE}b\N{LINE SEPARATOR}c",)),
    ],
)
def test_quotes_group_and_nothing_else_has_a_meaning(text: str, words: tuple[str, ...]) -> None:
    assert split(text) == words


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('chant run "prod', 'the quote " at character 11 is never closed'),
        ("chant run 'a", "the quote ' at character 11 is never closed"),
        ('chant run "a\\', 'the quote " at character 11 is never closed'),
        ("chant run a\\", "a backslash at the end has nothing to escape"),
        ("run a\0b", "the text holds a NUL character"),
        ("x" * (MAX_TEXT_BYTES + 1), "the text is longer than 64 KiB"),
        ("é" * (MAX_TEXT_BYTES // 2 + 1), "the text is longer than 64 KiB"),
    ],
)
def test_what_cannot_be_read_is_answered_with_a_reason(text: str, reason: str) -> None:
    assert split(text) == Unreadable(reason)


def test_a_text_of_exactly_the_limit_is_split() -> None:
    assert not too_long("x" * MAX_TEXT_BYTES)
    assert split("x " * (MAX_TEXT_BYTES // 2)) == ("x",) * (MAX_TEXT_BYTES // 2)


def test_a_lone_surrogate_is_a_character_like_any_other() -> None:
    assert split("run \ud800") == ("run", "\ud800")
