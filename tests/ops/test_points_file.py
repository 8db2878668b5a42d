"""Points on disk: what is read, and every finding with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.checking import check_op
from ops.loading import load_catalog
from ops.points import (
    Condition,
    Input,
    ModelDecider,
    PointInvalid,
    PointUnknown,
    Question,
    QuorumDecider,
    Row,
    TableDecider,
)
from ops.points_file import load_points
from tests.ops.projects import project
from tests.ops.questions import SHIP_IT, point

if TYPE_CHECKING:
    from pathlib import Path


def problems(folder: Path, **files: str) -> list[str]:
    named = {f"points/{stem.replace('_', '-')}.toml": text for stem, text in files.items()}
    return [str(each) for each in load_points(project(folder, named).root).problems]


def test_the_file_of_the_specification_is_read_in_full() -> None:
    found = point()

    assert found.name == "ship-it"
    assert found.title == "Ship this build?"
    assert found.capability == "inference"
    assert found.question == Question("yesno", "Ship only if the risk is low.")
    assert found.inputs == {"risk": Input("risk")}
    assert found.deciders == (
        TableDecider(
            (
                Row((Condition("risk", "eq", "low"),), "yes"),
                Row((Condition("risk", "in", ("high", "severe")),), "no"),
            )
        ),
        ModelDecider("local", "qwen", 0.8, "escalate"),
        QuorumDecider(1, ()),
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('kind = "model"', 'kind = "modle"', 13, "unknown decider 'modle' (did you mean model?)"),
        ('type = "yesno"', 'type = "yes"', 5, "unknown type 'yes'"),
        ('risk = "string"', 'risk = "text"', 8, "unknown type 'text'"),
        ('answer = "no"', 'answer = "maybe"', 11, "answer 'maybe' can't be given; possible: yes"),
        ('when = { risk = "low" }', 'when = { risky = "low" }', 11, "unknown input 'risky'"),
        ('{ risk = "low" }', "{ risk = 3 }", 11, "3 is not of type string"),
        ('{ in = ["high", "severe"] }', "{ gt = 3 }", 11, "gt compares numbers"),
        ('{ in = ["high", "severe"] }', '{ like = "h" }', 11, "unknown comparison 'like'"),
        ("threshold = 0.8", "threshold = 8", 16, "threshold must be from 0 to 1"),
        ('unreachable = "escalate"', 'unreachable = "skip"', 17, "unknown way 'skip'"),
        ("count = 1", "count = 0", 20, "count must be at least 1"),
        ('capability = "inference"', 'capabilty = "x"', 3, "unknown key 'capabilty'"),
        ('name = "ship-it"', 'name = "Ship It"', 1, "must be kebab-case"),
        ('title = "Ship this build?"', "title = 3", 2, "title must be text"),
    ],
)
def test_a_finding_has_file_line_and_what_is_known(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    assert old in SHIP_IT

    (found,) = problems(tmp_path, ship_it=SHIP_IT.replace(old, new, 1))

    assert found.startswith(f"points/ship-it.toml:{line}: ")
    assert said in found


def test_nobody_may_be_asked_after_the_quorum(tmp_path: Path) -> None:
    late = SHIP_IT + '[[deciders]]\nkind = "table"\nrows = [{ when = {}, answer = "no" }]\n'

    (found,) = problems(tmp_path, ship_it=late)

    assert found.startswith("points/ship-it.toml:23: ")
    assert "it must be the last decider" in found


CHOICE = """\
name = "where"
[question]
type = "choice"
options = ["north", "south"]
"""

SCORE = """\
name = "how-bad"
[question]
type = "score"
levels = 5
"""


def depends(name: str, on: str) -> str:
    return f"""\
name = "{name}"
[question]
type = "yesno"
[inputs]
other = {{ answer = "{on}" }}
"""


def test_points_that_wait_for_each_other_are_named_in_a_circle(tmp_path: Path) -> None:
    found = problems(tmp_path, a=depends("a", "b"), b=depends("b", "c"), c=depends("c", "a"))

    assert len(found) == 3
    assert found[0] == "points/a.toml:5: points wait for each other: a -> b -> c -> a"


def test_a_point_outside_of_a_circle_can_still_be_asked(tmp_path: Path) -> None:
    files = {"points/a.toml": depends("a", "a"), "points/ship.toml": SHIP_IT}

    points = load_points(project(tmp_path, files).root)

    assert list(points.points) == ["ship-it"]
    assert list(points.broken) == ["a"]
    with pytest.raises(PointInvalid, match="a -> a"):
        points.find("a")
    with pytest.raises(PointUnknown, match=r"unknown point 'ship' .*did you mean ship-it"):
        points.find("ship")


def test_an_input_that_is_an_answer_takes_the_type_of_that_answer(tmp_path: Path) -> None:
    files = {"points/how.toml": SCORE, "points/a.toml": depends("a", "how-bad")}

    points = load_points(project(tmp_path, files).root)

    assert points.problems == ()
    assert points.points["a"].typed({"other": "3"}) == {"other": 3}


def test_a_condition_on_an_answer_must_be_an_answer_of_that_point(tmp_path: Path) -> None:
    table = '[[deciders]]\nkind = "table"\nrows = [{ when = { other = "west" }, answer = "no" }]\n'

    (found,) = problems(tmp_path, where=CHOICE, a=depends("a", "where") + table)

    assert "'west' is no answer of where" in found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CHOICE.replace('["north", "south"]', '["north"]'), "options must be 2 to 255 different"),
        (CHOICE.replace('"south"', '"north"'), "options must be 2 to 255 different texts"),
        (SCORE.replace("5", "11"), "levels must be from 2 to 10"),
        ('name = "x"\n', "type is missing"),
        ("name = [\n", "points/x.toml:"),
    ],
)
def test_a_question_that_cannot_be_asked_is_a_finding(tmp_path: Path, text: str, said: str) -> None:
    found = problems(tmp_path, x=text)

    assert any(said in each for each in found)


def test_two_points_of_one_name_are_both_named(tmp_path: Path) -> None:
    points = load_points(project(tmp_path, {"points/a.toml": CHOICE, "points/b.toml": CHOICE}).root)

    assert points.points == {}
    assert [str(each) for each in points.problems] == [
        "points/b.toml:1: point 'where' is also declared in points/a.toml"
    ]


ASKS = """\
name = "release"
[[phases]]
name = "Only"
  [[phases.steps]]
  id = "scan"
  fn = "shell"
  args = { cmd = "echo low" }
  [[phases.steps]]
  point = "ship-it"
  args = { risk = { from = "scan", path = "stdout" } }
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('point = "ship-it"', 'point = "ship"', "unknown point 'ship' (did you mean ship-it?)"),
        ("risk =", "rsk =", "unknown input of point 'ship-it': 'rsk' (did you mean risk?)"),
        ('{ risk = { from = "scan", path = "stdout" } }', "{}", "needs the input 'risk'"),
        ('{ from = "scan", path = "stdout" }', "3", "must be of type string, not 3"),
        ('{ from = "scan", path = "stdout" }', '{ from = "later" }', "unknown earlier step"),
    ],
)
def test_a_step_that_asks_is_checked_before_anything_runs(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    files = {"points/ship-it.toml": SHIP_IT, "release.op.toml": ASKS}
    good = load_catalog(project(tmp_path / "good", files))
    assert check_op(good.ops["release"], good) == ()

    files["release.op.toml"] = ASKS.replace(old, new, 1)
    bad = load_catalog(project(tmp_path / "bad", files))

    assert any(said in str(each) for each in check_op(bad.ops["release"], bad))


def test_a_step_that_asks_a_broken_point_does_not_run(tmp_path: Path) -> None:
    files = {"points/ship-it.toml": "name = 3\n", "release.op.toml": ASKS}

    catalog = load_catalog(project(tmp_path, files))

    assert any("can't be asked" in str(each) for each in check_op(catalog.ops["release"], catalog))
    assert any("points/ship-it.toml:1:" in str(each) for each in catalog.problems)
