"""``chant lint`` on the command line and in a session."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.chant.projects import RELEASE, make_project
from tests.runtimes.chant.talk import chant, prompt

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Path:
    leaky = RELEASE.replace("release", "leaky").replace("echo", "PASSWORD=hunter2 echo")
    return make_project(tmp_path / "box", leaky=f"{leaky}# end ")


def test_errors_are_findings_with_a_place_a_level_and_a_rule(box: Path) -> None:
    said = chant(box, "lint")

    assert said.code == 1
    assert "ops/leaky.op.toml:13: error secret-literal: phases.0.steps.0.args.cmd" in said.out
    assert "info final-newline: the file does not end in a newline (--fix mends it)\n" in said.out
    assert "hunter2" not in said.out + said.err


def test_json_sarif_and_a_session_tell_the_same(box: Path) -> None:
    as_json = chant(box, "lint", "--json").document
    as_format = json.loads(chant(box, "lint", "--format", "json").out)
    code, prompted = prompt(box, "lint")
    log = chant(box, "lint", "--format", "sarif").document

    assert (code, prompted, as_format) == (1, as_json, as_json)
    assert as_json["counts"] == {"error": 1, "warning": 0, "info": 2}
    assert [each["ruleId"] for each in log["runs"][0]["results"]] == [
        each["rule"] for each in as_json["findings"]
    ]


def test_fix_mends_what_is_safe_and_says_so(box: Path) -> None:
    said = chant(box, "lint", "--fix", "--json")

    assert (said.code, said.document["fixed"]) == (1, ["ops/leaky.op.toml"])
    assert said.document["counts"]["info"] == 0
    assert (box / "ops/leaky.op.toml").read_text().endswith("# end\n")


def test_warnings_fail_only_when_asked_to(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "box", other=RELEASE)

    assert chant(folder, "lint").code == 0
    assert chant(folder, "lint", "--strict").code == 1
    assert chant(folder, "lint", "--format", "xml").code == 2


@pytest.mark.parametrize("file", ["ops/p.op.toml", "points/p.toml", "p.resource.toml"])
def test_a_pipe_in_the_place_of_a_declaration_is_told_and_not_waited_for(
    box: Path, file: str
) -> None:
    """Everything that loads a project waited for who would write into it."""
    (box / file).parent.mkdir(exist_ok=True)
    os.mkfifo(box / file)

    said = chant(box, "lint", "--fix")
    listed = chant(box, "list")

    assert f"{file}:1: " in said.out
    assert "no regular file" in said.out
    assert "leaky" in listed.out
