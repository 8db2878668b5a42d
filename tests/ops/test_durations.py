from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("5s", 5), ("10m", 600), ("1h30m", 5400), ("2d", 172800), ("48h", 172800)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["", "5", "s", "5 s", "5s ", " 5s", "5sx", "5x", "-5s", "1.5h", "30m1h", "1m1m", "0s", "9999d",
     "\uff15s", "5S", "9" * 5000 + "s"],
)  # fmt: skip
def test_any_unread_character_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@given(st.integers(1, 365 * 86400 * 1000))
def test_what_is_written_is_read_back(milliseconds: int) -> None:
    assert round(parse_duration(format_duration(milliseconds / 1000)) * 1000) == milliseconds


@given(st.text(max_size=12))
def test_no_text_is_read_as_something_else(text: str) -> None:
    try:
        seconds = parse_duration(text)
    except ValueError:
        return
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds)
