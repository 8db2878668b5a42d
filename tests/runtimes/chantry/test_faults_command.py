"""``chantry faults``: the list is made from the code, and a look at plans has an exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from runtimes.chantry.cli import chantry
from runtimes.fault_points import all_points
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

PLANS = sorted(map(str, (ROOT / "examples" / "faults").glob("*.toml")))


def run(*words: str) -> Result:
    return CliRunner().invoke(chantry, ["faults", *words])


def test_the_list_has_one_line_for_each_point() -> None:
    lines = run("list").stdout.splitlines()

    assert [line.split()[0] for line in lines] == list(all_points())
    assert "a producer is about to hand messages to the gate" in run("list").stdout
    assert all(line.endswith("]") for line in lines)


def test_the_list_as_json_says_the_same() -> None:
    listed = json.loads(run("list", "--json").stdout)

    assert [each["name"] for each in listed] == list(all_points())
    assert {"crash", "delay"} <= set(listed[0]["can"])


def test_plans_that_can_work_are_described() -> None:
    result = run("check", *PLANS)

    assert result.exit_code == 0
    assert "no-answer.toml: the answer to session/prompt never comes (faults: 1)" in result.stdout


def test_a_plan_with_mistakes_exits_with_2_and_names_them(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('[[fault]]\npoint = "x"\nfault = "crash"\n', encoding="utf-8")

    result = run("check", str(path), PLANS[0])

    assert result.exit_code == 2
    assert f"{path}:2: fault 1: unknown point 'x'" in result.stderr
    assert PLANS[0] in result.stdout
