"""What holds for every property test."""

from __future__ import annotations

from hypothesis import settings


def test_no_example_has_a_time_limit() -> None:
    assert settings().deadline is None
