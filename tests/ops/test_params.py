from __future__ import annotations

from typing import Any

import pytest

from ops.errors import ParamInvalid
from ops.model import Param
from ops.params import known_params, param_text, param_variable, resolve_params

DECLARED = {
    "version": Param("version", required=True, env="BOX_VERSION"),
    "count": Param("count", "integer", default=2),
    "ratio": Param("ratio", "number"),
    "dry": Param("dry", "boolean", default=False),
    "size": Param("size", default="s", enum=("s", "m")),
}


def test_a_given_value_wins_over_the_variable_and_the_default() -> None:
    given = {"version": "2", "count": "7", "ratio": "0.5", "dry": "yes", "size": "m"}

    values = resolve_params(DECLARED, given, {"BOX_VERSION": "1"})

    assert values == {"version": "2", "count": 7, "ratio": 0.5, "dry": True, "size": "m"}


def test_variable_and_default_fill_in_and_the_rest_is_left_out() -> None:
    values = resolve_params(DECLARED, {}, {"BOX_VERSION": "1"})

    assert values == {"version": "1", "count": 2, "dry": False, "size": "s"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "missing parameter: version"),
        ({"version": "1", "verison": "2"}, "did you mean version"),
        ({"version": "1", "count": "x"}, "'count' must be an integer, not 'x'"),
        ({"version": "1", "count": True}, "must be an integer"),
        ({"version": "1", "ratio": "nan"}, "must be a number"),
        ({"version": "1", "dry": "maybe"}, "must be a boolean"),
        ({"version": "1", "size": "xl"}, "one of s, m, not 'xl'"),
        ({"version": "a\0b"}, "NUL"),
        ({"version": 3}, "must be a string"),
    ],
)
def test_a_value_that_does_not_fit_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamInvalid, match=message):
        resolve_params(DECLARED, given, {})


def test_what_is_missing_is_listed_without_an_error_for_a_build() -> None:
    assert known_params(DECLARED, {}, {})[1] == ["version"]


def test_values_reach_a_step_as_variables() -> None:
    assert param_variable("dry-run") == "CHANT_PARAM_DRY_RUN"
    assert [param_text(value) for value in ("a b", 3, True)] == ["a b", "3", "true"]
