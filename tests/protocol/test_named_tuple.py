"""`protocol.named_tuple.NamedTuple` beside the one of `typing` that it stands for."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.named_tuple import NamedTuple


class Point(NamedTuple):
    """Where something is."""

    x: int
    y: int = 2
    unit: str = "mm"

    @property
    def total(self) -> int:
        """Both."""
        return self.x + self.y


class Twin(typing.NamedTuple):
    """The same, as `typing` makes it."""

    x: int
    y: int = 2
    unit: str = "mm"


def fresh() -> Any:
    """Make a class of which nobody has made an object yet."""

    class Place(NamedTuple):
        x: int
        y: int = 2
        unit: str = "mm"

    return Place


def _pickled(one: Any) -> Any:
    return pickle.loads(pickle.dumps(one))  # noqa: S301 - what we wrote ourselves


def made(cls: Any, place: tuple[Any, ...], name: dict[str, Any]) -> Any:
    """Return the members of an object, or the kind of the error and what it says of members."""
    try:
        return tuple(cls(*place, **name))
    except TypeError as error:
        return str(error).split("()", 1)[1]


@given(
    place=st.lists(st.integers(), max_size=4).map(tuple),
    name=st.dictionaries(st.sampled_from(["x", "y", "unit", "z"]), st.integers(), max_size=4),
)
def test_the_first_object_and_the_later_ones_take_and_refuse_what_the_original_does(
    place: tuple[int, ...], name: dict[str, int]
) -> None:
    cls = fresh()
    outcomes = [made(cls, place, name) for _ in range(3)]

    assert outcomes == [made(Twin, place, name)] * 3


def test_members_are_read_by_name_by_place_and_by_pattern() -> None:
    point = Point(1, unit="m")

    assert (point.x, point.y, point.unit, point.total) == (1, 2, "m", 3)
    assert (point[0], point[1:], len(point)) == (1, (2, "m"), 3)
    x, y, unit = point
    assert (x, y, unit) == (1, 2, "m")
    match point:
        case Point(1, b, unit=c):
            assert (b, c) == (2, "m")
        case _:
            pytest.fail("no match")


def test_it_is_a_tuple_that_compares_hashes_and_shows_as_the_original() -> None:
    assert Point(1) == (1, 2, "mm") == Twin(1)
    assert hash(Point(1)) == hash(Twin(1))
    assert Point(1) < Point(2)
    assert isinstance(Point(1), tuple)
    assert repr(Point(1)) == "Point(x=1, y=2, unit='mm')"


def test_nothing_can_be_assigned() -> None:
    point: Any = Point(1)

    with pytest.raises(AttributeError):
        point.x = 2
    with pytest.raises(AttributeError):
        point.other = 2


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _pickled])
def test_copies_are_equal_and_of_the_same_class(copied: Any) -> None:
    again = copied(Point(1, 3))

    assert again == Point(1, 3)
    assert type(again) is Point


def test_the_tools_of_the_original_are_there() -> None:
    assert Point(1)._replace(y=5) == Point(1, 5)
    assert Point(1)._asdict() == Twin(1)._asdict()
    assert Point._make([1, 2, "m"]) == Point(1, 2, "m")
    assert Point._fields == Twin._fields
    assert Point._field_defaults == Twin._field_defaults
    with pytest.raises(TypeError):
        fresh()(1)._replace(z=1)
    with pytest.raises(TypeError):
        fresh()._make([1])
    assert get_type_hints(Point) == get_type_hints(Twin)


def test_a_class_without_members_is_the_empty_tuple() -> None:
    class Nothing(NamedTuple):
        pass

    assert Nothing() == ()
    assert Nothing() == Nothing()


def test_a_class_of_such_a_class_has_its_own_objects() -> None:
    base = fresh()

    more: Any = type("More", (base,), {})

    assert [type(each) for each in (more(1), more(1), base(1), base(1))] == [more, more, base, base]


def test_a_class_of_such_a_class_may_make_its_objects_from_other_things() -> None:
    class Square(Point):
        def __new__(cls, side: int) -> Any:
            return super().__new__(cls, side, side)

    copies = [Square(2)._replace(unit="m"), Square._make([2, 2, "m"])]

    assert copies == [(2, 2, "m")] * 2
    assert {type(each) for each in copies} == {Square}


def test_its_own_constructor_stays_whoever_makes_the_second_object() -> None:
    class Spot(NamedTuple):
        x: int
        y: int = 2

    class Read(Spot):
        def __new__(cls, text: str) -> Any:
            return super().__new__(cls, int(text))

    assert [Read("1"), Read("2"), Spot(3), Read("4")] == [(1, 2), (2, 2), (3, 2), (4, 2)]


def test_members_may_have_the_names_that_methods_give_to_themselves() -> None:
    class Odd(NamedTuple):
        self: int
        cls: int

    assert [Odd(self=1, cls=2), Odd(self=1, cls=2)] == [(1, 2)] * 2
    assert Odd(1, 2)._replace(self=3, cls=4) == (3, 4)
