"""Fault plans as files: what is read, and how mistakes are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.fault_plan import FaultPlan, PlanInvalid, PlannedFault
from runtimes.fault_file import plan_text, read_plan
from runtimes.fault_points import all_points
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = sorted((ROOT / "examples" / "faults").glob("*.toml"))


def read(folder: Path, text: str) -> FaultPlan:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return read_plan(str(path), all_points())


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(PlanInvalid) as raised:
        read(folder, text)
    return [line.replace(f"{folder}/", "") for line in str(raised.value).splitlines()]


def test_a_plan_is_read_with_all_its_fields(tmp_path: Path) -> None:
    text = """
about = "one of each"
seed = 7
suspends = ["answers"]
[[fault]]
point = "line.update"
fault = "late"
who = "plan"
hit = 2
times = 3
behind = "answer"
[[fault]]
point = "step.read"
fault = "error"
probability = 0.5
errno = "ENOMEM"
[[fault]]
point = "line.answer"
fault = "garbage"
text = "oops"
place = "instead"
"""

    assert read(tmp_path, text) == FaultPlan(
        name="mine",
        about="one of each",
        seed=7,
        suspends=("answers",),
        faults=(
            PlannedFault(
                point="line.update", fault="late", who="plan", hit=2, times=3, behind="answer"
            ),
            PlannedFault(point="step.read", fault="error", probability=0.5, errno="ENOMEM"),
            PlannedFault(point="line.answer", fault="garbage", text="oops", place="instead"),
        ),
    )


def test_every_mistake_has_its_line_and_what_is_known(tmp_path: Path) -> None:
    text = """suspends = ["answer"]
[[fault]]
point = "gate.putt"
fault = "crash"
[[fault]]
point = "gate.put"
fault = "drop"
seconds = 1
[[fault]]
fault = "crash"
hit = "one"
"""
    found = mistakes(tmp_path, text)

    assert found[0].startswith("mine.toml:1: unknown invariant 'answer' (did you mean answers?)")
    assert found[1].startswith(
        "mine.toml:3: fault 1: unknown point 'gate.putt' (did you mean gate.put?); known: actor."
    )
    assert found[2:] == [
        "mine.toml:8: fault 2: seconds is for delay and stall, not for drop",
        "mine.toml:9: fault 3: point is missing",
        "mine.toml:11: fault 3: hit must be a whole number, not 'one'",
    ]


def test_a_fault_that_a_point_does_not_support_is_told_with_those_it_does(tmp_path: Path) -> None:
    text = '[[fault]]\npoint = "gate.put"\nfault = "drop"\n'

    assert mistakes(tmp_path, text) == [
        "mine.toml:3: fault 1: gate.put can't drop; it can crash, delay, stall, exit"
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "mine.toml:1: a plan needs at least one [[fault]]"),
        ("[[fault]\n", "mine.toml:1: "),
        ('color = "red"\n', "mine.toml:1: unknown key 'color'"),
    ],
)
def test_what_is_no_plan_is_told(tmp_path: Path, text: str, told: str) -> None:
    assert any(each.startswith(told) for each in mistakes(tmp_path, text))


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(PlanInvalid, match=r"/nowhere.toml:1: can't be read: No such file"):
        read_plan("/nowhere.toml", all_points())


TEXTS = st.text(max_size=8)
FAULTS = st.builds(
    PlannedFault,
    point=st.just("line.update"),
    fault=st.just("garbage"),
    who=TEXTS,
    hit=st.none() | st.integers(1, 9),
    times=st.none() | st.integers(1, 9),
    text=TEXTS,
    place=st.sampled_from(["before", "after", "instead"]),
) | st.builds(
    PlannedFault,
    point=st.just("line.answer"),
    fault=st.sampled_from(["delay", "stall"]),
    probability=st.floats(0.1, 1),
    seconds=st.floats(0.1, 1e9),
)


@given(faults=st.lists(FAULTS, min_size=1, max_size=4), seed=st.integers(0, 2**63), about=TEXTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_plan_made_in_python_is_read_back_from_its_file(
    tmp_path: Path, faults: list[PlannedFault], seed: int, about: str
) -> None:
    plan = FaultPlan(faults=tuple(faults), name="mine", seed=seed, about=about)

    assert read(tmp_path, plan_text(plan)) == plan


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_plan_can_work_and_says_what_it_does(path: Path) -> None:
    plan = read_plan(str(path), all_points())

    assert plan.name == path.stem
    assert plan.about


def test_there_are_example_plans_for_the_usual_questions() -> None:
    assert {path.stem for path in EXAMPLES} >= {
        "broken-line",
        "dies-in-turn",
        "garbage-crash",
        "no-answer",
        "out-of-pace",
        "repeated-question",
        "repeated-update",
        "slow-stream",
    }
