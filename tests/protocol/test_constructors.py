"""Constructors of classes with as many members share their code, and nothing else."""

from __future__ import annotations

from dataclasses import field
from inspect import signature
from typing import Any

import pytest

from protocol.named_tuple import NamedTuple
from protocol.values import frozen, slotted


@frozen
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list[str])


@frozen
class Range:
    low: int
    high: int = 9
    seen: list[str] = field(default_factory=lambda: ["new"])


@slotted
class Moving:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list[str])


class Pair(NamedTuple):
    left: int
    right: int = 1


class Span(NamedTuple):
    start: int
    end: int = 2


def made_twice(cls: Any, /, *given: Any, **named: Any) -> Any:
    """Return the second object: the first one is made by a loop."""
    cls(*given, **named)
    return cls(*given, **named)


def test_each_class_has_its_own_names_defaults_and_makers() -> None:
    assert repr(made_twice(Point, 1)) == "Point(x=1, y=0, tags=[])"
    assert repr(made_twice(Range, low=1)) == "Range(low=1, high=9, seen=['new'])"
    assert repr(made_twice(Moving, 1, y=2)) == "Moving(x=1, y=2, tags=[])"
    assert repr(made_twice(Pair, 5)) == "Pair(left=5, right=1)"
    assert repr(made_twice(Span, start=5)) == "Span(start=5, end=2)"


def test_what_is_made_anew_is_never_shared() -> None:
    assert made_twice(Point, 1).tags is not Point(1).tags


@pytest.mark.parametrize(
    ("cls", "missing"),
    [(Point, "x"), (Range, "low"), (Moving, "x"), (Pair, "left"), (Span, "start")],
)
def test_errors_name_the_class_and_its_member(cls: Any, missing: str) -> None:
    made_twice(cls, 1)

    message = rf"{cls.__name__}\.__\w+__\(\) missing 1 required positional argument: '{missing}'"
    with pytest.raises(TypeError, match=message):
        cls()
    with pytest.raises(TypeError, match=f"{cls.__name__}.* got an unexpected keyword argument 'z'"):
        cls(1, z=2)


def test_signatures_name_the_members() -> None:
    made_twice(Point, 1)
    made_twice(Span, 1)

    assert list(signature(Point).parameters) == ["x", "y", "tags"]
    assert list(signature(Span).parameters) == ["start", "end"]


def test_many_members_keep_their_places() -> None:
    names = [f"m{number}" for number in range(40)]
    body = {"__annotations__": dict.fromkeys(names, "int"), "__module__": __name__}
    many: Any = frozen(type("Many", (), body))
    values = list(range(40))

    assert [getattr(made_twice(many, *values), name) for name in names] == values


@pytest.mark.parametrize("declared", [frozen, slotted])
@pytest.mark.parametrize(
    "names", [["_1", "_0"], ["_self", "_set"], ["_absent", "_make_0", "_make_1"], ["self", "cls"]]
)
def test_members_may_have_the_names_that_the_code_uses(declared: Any, names: list[str]) -> None:
    members = {"__annotations__": dict.fromkeys(names, "int"), "__module__": __name__}
    made_anew = field(default_factory=lambda: 9)
    cls = declared(type("Odd", (), {**members, names[-1]: made_anew}))
    given = dict(zip(names, range(len(names)), strict=True))

    one, other = made_twice(cls, **given), made_twice(cls, *list(given.values())[:-1])

    assert {name: getattr(one, name) for name in names} == given
    assert getattr(other, names[-1]) == 9


def test_a_member_without_a_default_after_one_with_one_is_an_error() -> None:
    body = {"__annotations__": {"a": "int", "b": "int"}, "a": 1, "__module__": __name__}
    wrong: Any = frozen(type("Wrong", (), body))
    wrong(1, 2)

    with pytest.raises(TypeError, match="Wrong: a member without a default comes after one"):
        wrong(1, 2)
