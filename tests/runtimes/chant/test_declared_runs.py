"""What Ops declare, seen in real runs: parameters, profiles, references, outcomes, parallel phases.

Also Ops in Python and functions of a project, from the command line to the ledger.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agents import CHANT
from tests.e2e.talk import Talk
from tests.runtimes.chant.projects import RELEASE, ledger_lines, make_project
from tests.runtimes.chant.talk import Said, chant

if TYPE_CHECKING:
    from pathlib import Path

PARAMS = """\
name = "it"

[params.name]
required = true
[params.count]
type = "integer"
default = 3
[params.share]
type = "number"
[params.dry]
type = "boolean"
default = false
[params.size]
enum = ["small", "large"]
default = "small"
[params.token-name]
env = "BOX_TOKEN_NAME"

[[phases]]
name = "Say"
[[phases.steps]]
fn = "shell"
args = { cmd = "env | grep ^CHANT_PARAM_ | sort" }
outcome = { name = "seen", from = "stdout" }
"""

CONFIG = """\
[project]
name = "box"
python_ops = true

[profiles.twice]
timeout = "1m"
attempts = 2
wait = "1ms"

[activities]
modules = ["tools.acts"]
"""

ACTS = """\
import json, os, time

def measure(path: str, scale: int = 1) -> dict:
    print("measuring", path)
    return {"file": {"bytes": os.path.getsize(path) * scale}, "env": os.environ["CHANT_ENV"]}

def wait_long():
    try:
        print("waiting", flush=True)
        time.sleep(600)
    finally:
        open("cleaned", "w").close()
"""

PYTHON_OP = """\
from ops.builders import Op, activity, exec_, outcome, output_of, phase, python, shell

op = Op("weigh", phases=[
    phase("Measure", [
        activity("measure", {"path": "chant.toml"}, id="m",
                 outcome=[outcome("bytes", "file.bytes"), outcome("where", "env")]),
        python("tools.acts:measure", {"path": "chant.toml", "scale": 2}, id="twice"),
    ]),
    phase("Tell", [exec_("echo", "it", output_of("m", "env"), outcome=outcome("line"))]),
], on_failure=[phase("Undo", [shell("touch undone")])])
"""


def box(folder: Path, **ops: str) -> Path:
    make_project(folder, git=True, **ops)
    (folder / "chant.toml").write_text(CONFIG)
    (folder / "tools").mkdir()
    (folder / "tools" / "acts.py").write_text(ACTS)
    return folder


def record(said: Said) -> Any:
    assert said.out, said.err
    return said.document


@pytest.fixture
def params(tmp_path: Path) -> Path:
    return box(tmp_path / "box", it=PARAMS)


def test_a_value_is_given_or_of_its_variable_or_the_default(params: Path) -> None:
    said = chant(
        params,
        *("run", "it", "--json", "--param", "name=a=b c", "--param", "dry=yes"),
        *("--param", "share=0.5"),
        BOX_TOKEN_NAME="from env",
    )

    found = record(said)
    assert found["params"] == {
        "name": "a=b c",
        "count": 3,
        "share": 0.5,
        "dry": True,
        "size": "small",
        "token-name": "from env",
    }
    assert found["outcomes"]["seen"].splitlines() == [
        "CHANT_PARAM_COUNT=3",
        "CHANT_PARAM_DRY=true",
        "CHANT_PARAM_NAME=a=b c",
        "CHANT_PARAM_SHARE=0.5",
        "CHANT_PARAM_SIZE=small",
        "CHANT_PARAM_TOKEN_NAME=from env",
    ]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ((), "missing parameter: name (give it with --param name=VALUE)"),
        (("name",), "--param 'name' is not of the form NAME=VALUE"),
        (("=x",), "is not of the form NAME=VALUE"),
        (("name=a", "name=b"), "--param 'name' is given twice"),
        (("name=a", "count=three"), "parameter 'count' must be an integer, not 'three'"),
        (("name=a", "count=1.5"), "parameter 'count' must be an integer, not '1.5'"),
        (("name=a", "count=1_000"), "parameter 'count' must be an integer, not '1_000'"),
        (("name=a", "share=nan"), "parameter 'share' must be a number, not 'nan'"),
        (("name=a", "dry=maybe"), "parameter 'dry' must be a boolean, not 'maybe'"),
        (("name=a", "size=Large"), "must be one of small, large, not 'Large'"),
        (("name=a", "siz=large"), "unknown parameter 'siz' (did you mean size?); known: count"),
    ],
)
def test_a_wrong_parameter_is_named_and_nothing_runs(
    params: Path, given: tuple[str, ...], reason: str
) -> None:
    words = [word for text in given for word in ("--param", text)]

    said = chant(params, "run", "it", *words)

    assert said.code == 2
    assert reason in said.err
    assert ledger_lines(params, "local", "it") == []


def test_an_op_runs_after_those_it_depends_on_or_says_that_it_did_not(tmp_path: Path) -> None:
    deploy = RELEASE.replace('name = "release"', 'name = "deploy"\ndepends = ["release"]')
    folder = box(tmp_path / "box", release=RELEASE, deploy=deploy)

    assert chant(folder, "run", "deploy").code == 4
    ignoring = record(chant(folder, "run", "deploy", "--ignore-depends", "--json"))
    assert ignoring["ignored_depends"] is True
    assert chant(folder, "run", "release").code == 0
    obeying = record(chant(folder, "run", "deploy", "--json"))

    assert obeying["ignored_depends"] is False
    assert chant(folder, "run", "deploy", "--no-ledger").code == 4


def test_a_profile_of_the_project_says_how_often_a_step_is_tried(tmp_path: Path) -> None:
    retried = """\
name = "retried"
[[phases]]
name = "Try"
[[phases.steps]]
fn = "shell"
profile = "twice"
args = { cmd = "[ -e once ] || { touch once; exit 1; }" }
"""
    folder = box(tmp_path / "box", retried=retried)

    found = record(chant(folder, "run", "retried", "--json"))

    (step,) = found["phases"][0]["steps"]
    assert (found["status"], step["attempts"]) == ("ok", 2)


def test_a_reference_to_what_is_not_there_fails_its_step_and_cleans_up(tmp_path: Path) -> None:
    text = """\
name = "lost"
[[phases]]
name = "A"
[[phases.steps]]
id = "first"
fn = "shell"
args = { cmd = "echo hi" }
[[phases.steps]]
fn = "exec"
args = { argv = ["echo", { from = "first", path = "no.such" }] }
[[on_failure]]
name = "Undo"
[[on_failure.steps]]
fn = "shell"
args = { cmd = "touch undone" }
"""
    folder = box(tmp_path / "box", lost=text)

    found = record(chant(folder, "run", "lost", "--json"))

    assert found["failure"]["error"] == "the output of step 'first' has nothing at 'no.such'"
    assert (found["status"], found["compensation"]) == ("fail", "ok")
    assert (folder / "undone").exists()


@pytest.mark.parametrize("fail_fast", [True, False])
def test_fail_fast_stops_the_neighbours_of_a_failed_step(
    tmp_path: Path, *, fail_fast: bool
) -> None:
    waits = "sleep 600" if fail_fast else "until [ -e failed ]; do sleep 0.02; done; touch ended"
    text = f"""\
name = "wide"
[[phases]]
name = "A"
parallel = true
fail_fast = {str(fail_fast).lower()}
[[phases.steps]]
fn = "shell"
args = {{ cmd = "{waits}" }}
[[phases.steps]]
fn = "shell"
args = {{ cmd = "touch failed; exit 7" }}
"""
    folder = box(tmp_path / "box", wide=text)

    found = record(chant(folder, "run", "wide", "--json"))

    statuses = [step["status"] for step in found["phases"][0]["steps"]]
    assert statuses == ["cancelled" if fail_fast else "ok", "fail"]
    assert (folder / "ended").exists() is not fail_fast


def test_an_op_in_python_runs_functions_of_its_project(tmp_path: Path) -> None:
    folder = box(tmp_path / "box")
    (folder / "ops" / "weigh_op.py").write_text(PYTHON_OP)
    size = os.path.getsize(folder / "chant.toml")

    listed = chant(folder, "list")
    plan = chant(folder, "run", "weigh", "--plan", "--json").document
    found = record(chant(folder, "run", "weigh", "--json"))

    assert listed.out == "weigh\n"
    assert [step["fn"] for step in plan["phases"][0]["steps"]] == ["measure", "python"]
    assert found["outcomes"] == {"bytes": size, "where": "local", "line": "it local"}
    assert json.loads(ledger_lines(folder, "local", "weigh")[0]) == found


def test_a_broken_op_in_python_is_a_warning_with_its_line_and_hides_nothing(
    tmp_path: Path,
) -> None:
    folder = box(tmp_path / "box", release=RELEASE)
    (folder / "ops" / "bad_op.py").write_text("x = 1\nprint('hi')\n")

    listed, ran = chant(folder, "list"), chant(folder, "run", "release")
    refused = chant(folder, "run", "bad")

    warning = "ops/bad_op.py:2: an Op must not print anything; it printed 'hi'"
    assert (listed.code, ran.code, refused.code) == (0, 0, 4)
    assert f"warning: {warning}" in listed.err
    assert f"warning: {warning}" in ran.err
    assert warning in refused.err


def test_a_function_that_is_cancelled_is_stopped_and_cleans_up(tmp_path: Path) -> None:
    folder = box(tmp_path / "box")
    text = PYTHON_OP.replace('activity("measure", {"path": "chant.toml"}', 'activity("wait_long"')
    (folder / "ops" / "weigh_op.py").write_text(text)

    with Talk(CHANT, folder) as talk:
        talk.open()
        request = talk.prompt("run weigh")
        talk.until_text("waiting")
        talk.cancel()
        turn = talk.finish(request)

    assert turn.stop_reason == "cancelled"
    assert (folder / "cleaned").exists()
    assert (folder / "undone").exists()


def test_programs_that_are_not_installed_are_named(tmp_path: Path) -> None:
    text = """\
name = "cloud"
[[phases]]
name = "A"
[[phases.steps]]
fn = "helm_upgrade"
args = { release = "r", chart = "c", env = { PATH = "/nowhere" } }
"""
    folder = box(tmp_path / "box", cloud=text)

    found = record(chant(folder, "run", "cloud", "--json"))

    assert found["failure"]["error"] == "can't start 'helm': program not found"


def test_the_doctor_looks_at_the_modules_of_activities(tmp_path: Path) -> None:
    folder = box(tmp_path / "box", release=RELEASE)

    well = chant(folder, "doctor")
    (folder / "tools" / "acts.py").unlink()
    ill = chant(folder, "doctor")

    assert "measure, wait_long" in well.out + well.err
    assert "chant.toml:11: there is no module 'tools.acts'" in ill.out + ill.err
