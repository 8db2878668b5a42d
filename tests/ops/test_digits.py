from __future__ import annotations

import pytest

from ops.digits import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("9" * 5000, None),
        ("", None),
        ("-1", None),
        ("1.0", None),
        (" 1", None),
        ("\u0663", None),
        ("\u00b2", None),
    ],
)
def test_plain_digits_are_a_number_and_nothing_else_is(text: str, number: int | None) -> None:
    assert whole_number(text) == number
