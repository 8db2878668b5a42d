"""Ids of sessions."""

from __future__ import annotations

import uuid

import pytest

from runtimes.radian.ids import check_session_id, new_session_id
from runtimes.radian.session_errors import BadSessionId


@pytest.mark.parametrize("text", ["a", "0", "A.b_c-d", "x" * 128, "s.jsonl"])
def test_letters_digits_dots_dashes_and_underlines_make_an_id(text: str) -> None:
    assert check_session_id(text) == text


@pytest.mark.parametrize(
    "text", ["", ".", "..", ".hidden", "-x", "_x", "a/b", "a b", "ä", "a\n", "x" * 129, "a\0"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadSessionId):
        check_session_id(text)


def test_a_new_id_is_a_uuid_of_version_7_that_holds_the_time() -> None:
    made = uuid.UUID(new_session_id(1796033700.123, bytes(range(246, 256))))

    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == 1796033700123


def test_ids_sort_by_time_and_random_bits_tell_them_apart() -> None:
    early, late = new_session_id(1.0, b"\xff" * 10), new_session_id(2.0, b"\0" * 10)

    assert early < late
    assert new_session_id(1.0, b"\0" * 10) != new_session_id(1.0, b"\0" * 9 + b"\1")
