"""Questions as values: inputs, ids, tables, answers."""

from __future__ import annotations

from typing import Any

import pytest

from ops.points import Condition, Input, Point, PointInvalid, Question, Row, TableDecider
from tests.ops.questions import SHIP_IT, point

YESNO = Question("yesno")


def test_the_same_question_has_the_same_id_and_another_input_another() -> None:
    asked = point()

    first = asked.question_id(asked.typed({"risk": "odd"}))

    assert first == asked.question_id({"risk": "odd"})
    assert first != asked.question_id({"risk": "even"})
    name, _, digits = first.rpartition("-")
    assert name == "ship-it"
    assert len(digits) == 12
    assert int(digits, 16) >= 0


def test_a_changed_declaration_asks_anew() -> None:
    changed = point(SHIP_IT.replace("threshold = 0.8", "threshold = 0.9"))

    assert changed.question_id({"risk": "odd"}) != point().question_id({"risk": "odd"})


@pytest.mark.parametrize(
    ("kind", "given", "typed"),
    [
        ("string", "a", "a"),
        ("integer", "3", 3),
        ("integer", 3, 3),
        ("number", "3.5", 3.5),
        ("boolean", "yes", True),
        ("boolean", False, False),
    ],
)
def test_inputs_are_read_in_their_types(kind: Any, given: Any, typed: Any) -> None:
    asked = Point("p", YESNO, inputs={"x": Input("x", kind)})

    assert asked.typed({"x": given}) == {"x": typed}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "point 'p' needs x"),
        ({"x": "three"}, "input 'x' of point 'p' must be of type integer, not 'three'"),
        ({"x": 1, "y": 2}, "unknown input of point 'p': 'y'"),
        ({"x": None}, "needs x"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(given: dict[str, Any], said: str) -> None:
    asked = Point("p", YESNO, inputs={"x": Input("x", "integer")})

    with pytest.raises(PointInvalid, match=said):
        asked.typed(given)


@pytest.mark.parametrize(
    ("op", "value", "holds"),
    [
        ("eq", 3, True),
        ("eq", 4, False),
        ("ne", 4, True),
        ("lt", 4, True),
        ("lt", 3, False),
        ("lte", 3, True),
        ("gt", 2, True),
        ("gt", 3, False),
        ("gte", 3, True),
        ("in", (1, 3), True),
        ("in", (1, 2), False),
    ],
)
def test_conditions_compare(op: str, value: Any, *, holds: bool) -> None:
    assert Condition("x", op, value).holds({"x": 3}) is holds


def test_the_first_row_that_fits_answers_and_an_empty_one_always_fits() -> None:
    rows = (Row((Condition("x", "gt", 5),), "no"), Row((), "yes"))

    assert TableDecider(rows).answer({"x": 6}) == "no"
    assert TableDecider(rows).answer({"x": 5}) == "yes"
    assert TableDecider(rows[:1]).answer({"x": 5}) is None


@pytest.mark.parametrize(
    ("question", "given", "read"),
    [
        (YESNO, "Yes", "yes"),
        (YESNO, " no ", "no"),
        (YESNO, True, "yes"),
        (YESNO, "n", "no"),
        (YESNO, "perhaps", None),
        (YESNO, None, None),
        (Question("choice", options=("a", "b")), "b", "b"),
        (Question("choice", options=("a", "b")), "B", None),
        (Question("score", levels=5), "5", 5),
        (Question("score", levels=5), 1, 1),
        (Question("score", levels=5), 0, None),
        (Question("score", levels=5), 2.5, None),
        (Question("score", levels=5), True, None),
    ],
)
def test_an_answer_is_read_as_the_candidate_that_it_means(
    question: Question, given: object, read: object
) -> None:
    assert question.read(given) == read
