"""`protocol.values.frozen` beside the dataclass that it stands for."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from protocol.values import frozen, slotted


@frozen
class Point:
    """Where something is."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list[str])
    unit: str = field(default="mm")

    @property
    def total(self) -> int:
        """Both."""
        return self.x + self.y


@slotted
class Place:
    """Somewhere else every day."""

    x: int
    tags: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Twin:
    """The same as a dataclass."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list[str])
    unit: str = field(default="mm")


@frozen
class Nothing:
    """No member at all."""


def test_it_is_made_by_place_and_by_name_with_its_defaults() -> None:
    made = [Point(1), Point(1, 3), Point(y=4, x=1, tags=["a"], unit="m")]

    assert [(each.x, each.y, each.tags, each.unit) for each in made] == [
        (1, 2, [], "mm"),
        (1, 3, [], "mm"),
        (1, 4, ["a"], "m"),
    ]
    assert made[0].tags is not made[1].tags
    assert made[0].total == 3


@pytest.mark.parametrize("given", [(), (1, 2, [], "m", 5)])
def test_a_wrong_number_of_members_is_an_error(given: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        Point(*given)


CALLS: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((1,), {}),
    ((1, 3), {"unit": "m"}),
    ((), {"y": 4, "x": 1, "tags": ["a"]}),
    ((), {}),
    ((1, 2, [], "m", 5), {}),
    ((1,), {"x": 1}),
    ((1,), {"z": 1}),
    ((), {"z": 1}),
    ((1, 2, [], "m"), {"z": 1}),
)


@pytest.mark.parametrize(("given", "named"), CALLS)
def test_the_first_object_of_a_class_is_made_as_the_later_ones_are(
    given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    @frozen
    class Fresh:
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list[str])
        unit: str = field(default="mm")

    came: list[str] = []
    for _ in range(3):
        try:
            came.append(repr(Fresh(*given, **named)))
        except TypeError as error:
            came.append(str(error))

    assert came == [came[0]] * 3


def test_it_equals_what_has_the_same_class_and_members() -> None:
    assert Point(1) == Point(1)
    assert Point(1) != Point(2)
    other: object = Twin(1)
    assert Point(1) != other
    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1


def test_it_can_not_be_changed_and_takes_nothing_else() -> None:
    one: Any = Point(1)

    with pytest.raises(FrozenInstanceError):
        one.x = 2
    with pytest.raises(FrozenInstanceError):
        del one.x
    assert not hasattr(one, "__dict__")


def test_a_slotted_one_can_be_changed_and_is_no_key() -> None:
    one = Place(1)

    one.x = 2
    one.tags.append("a")

    assert one == Place(2, ["a"])
    assert repr(one) == "Place(x=2, tags=['a'])"
    assert not hasattr(one, "__dict__")
    with pytest.raises(TypeError):
        hash(one)


def test_it_is_shown_as_a_dataclass_is() -> None:
    assert repr(Point(1)) == repr(Twin(1)).replace("Twin", "Point")
    assert repr(Nothing()) == "Nothing()"


def test_a_pattern_takes_its_members_by_place() -> None:
    match Point(1, 5):
        case Point(x, y):
            assert (x, y) == (1, 5)


def test_what_dataclasses_offers_works_on_it() -> None:
    assert replace(Point(1, tags=["a"]), y=9) == Point(1, 9, ["a"])
    assert [(f.name, f.type, f.default) for f in fields(Point)] == [
        (f.name, f.type, f.default) for f in fields(Twin)
    ]
    assert fields(Nothing) == ()


def test_it_can_be_copied_and_pickled() -> None:
    one = Point(1, tags=["a"])

    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own


def test_the_constructor_of_a_class_made_of_it_stays() -> None:
    @frozen
    class Spot:
        x: int
        y: int = 2

    class Read(Spot):
        def __init__(self, text: str) -> None:
            super().__init__(int(text))

    made = [Read("1"), Read("2"), Spot(3), Read("4")]

    assert [(each.x, each.y) for each in made] == [(1, 2), (2, 2), (3, 2), (4, 2)]


def test_what_a_value_can_not_have_is_refused_where_it_is_declared() -> None:
    with pytest.raises(TypeError, match="Late has a base or __post_init__"):

        @frozen
        class Late:
            x: int

            def __post_init__(self) -> None:
                """Come too late."""


@pytest.mark.parametrize("made", [frozen, slotted])
def test_a_member_may_be_called_self(made: Any) -> None:
    @made
    class Odd:
        self: int

    odd: Any = Odd  # mypy has it that no call could name it
    assert [odd(self=each).self for each in (1, 2, 3)] == [1, 2, 3]
