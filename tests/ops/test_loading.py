from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.errors import OpInvalid, OpNotFound
from ops.model import ActivityStep, GateStep, Outcome, Param
from tests.ops.projects import RELEASE, catalog, small_op

if TYPE_CHECKING:
    from pathlib import Path


def test_the_file_form_is_read_whole(tmp_path: Path) -> None:
    op = catalog(tmp_path, {"ops/release.op.toml": RELEASE}).find("release")

    pack, tests = op.phases[0].steps
    gate, copy, check = op.phases[1].steps
    assert (op.overview, op.labels, op.environments) == (
        "Build and ship",
        {"team": "box"},
        ("local", "prod"),
    )
    assert op.params == {"version": Param("version", required=True)}
    assert isinstance(pack, ActivityStep)
    assert (pack.step_id, pack.outcomes) == ("pack", (Outcome("artifact"),))
    assert isinstance(tests, ActivityStep)
    assert (tests.step_id, tests.timeout_s) == ("p1.s2", 600.0)
    assert gate == GateStep("p2.s1", "deploy-window", "Someone watches the dashboards")
    assert isinstance(copy, ActivityStep)
    assert copy.args["src"] == {"from": "pack", "path": "stdout"}
    assert isinstance(check, ActivityStep)
    assert check.profile == "poll"
    assert op.on_failure[0].steps[0].step_id == "f1.s1"


def test_on_failure_may_be_spelled_in_camel_case(tmp_path: Path) -> None:
    text = RELEASE.replace("on_failure", "onFailure")

    op = catalog(tmp_path, {"a.op.toml": text}).find("release")

    assert [phase.name for phase in op.on_failure] == ["Rollback"]


def test_a_broken_file_never_hides_the_others(tmp_path: Path) -> None:
    found = catalog(
        tmp_path,
        {"ops/bad.op.toml": 'name = "bad"\n[[phases]\n', "ops/good.op.toml": small_op("good")},
    )

    assert list(found.ops) == ["good"]
    (problem,) = found.problems
    assert (problem.file, problem.line) == ("ops/bad.op.toml", 2)
    with pytest.raises(OpInvalid, match=r"ops/bad\.op\.toml:2: "):
        found.find("bad")


def test_what_is_wrong_with_the_shape_does_not_hide_unknown_names(tmp_path: Path) -> None:
    text = """\
name = "x"
depends = ["nothing"]
environments = ["moon"]
[[phases]]
name = "A"
paralel = true
  [[phases.steps]]
  fn = "shel"
  [[phases.steps]]
  fn = "shell"
  profile = "none"
  args = { cdm = "true" }
  [[phases.steps]]
  point = "nowhere"
  [[phases.steps]]
  id = "d"
  [[phases.steps]]
  fn = 3
"""
    found = catalog(tmp_path, {"a.op.toml": small_op("a"), "x.op.toml": text})

    with pytest.raises(OpInvalid) as refused:
        found.find("x")

    said = refused.value.message.splitlines()
    assert said == [str(problem) for problem in found.problems]
    assert [line.partition(": ")[2][:21] for line in said] == [
        "unknown op 'nothing';",
        "unknown environment '",
        "phase A: unknown key ",
        "unknown fn 'shel' (di",
        "unknown profile 'none",
        "step p1.s2: shell nee",
        "step p1.s2: unknown a",
        "unknown point 'nowher",
        "step d needs one of f",
        "step p1.s5: fn must b",
    ]


def test_what_is_not_read_is_not_missed(tmp_path: Path) -> None:
    text = """\
name = "x"
[[phases]]
name = "A"
  [[phases.step]]
  id = "made"
  fn = "shell"
  args = { cmd = "true" }
[[phases]]
name = "B"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = { from = "made" } }
"""
    problems = catalog(tmp_path, {"x.op.toml": text}).problems

    assert [problem.reason.partition(";")[0] for problem in problems] == [
        "phase A: it has no steps",
        "phase A: unknown key 'step' (did you mean steps?)",
    ]


def test_a_draft_may_ask_for_an_activity_of_the_project(tmp_path: Path) -> None:
    files = {
        "acts.py": "def greet(): pass\n",
        "chant.toml": '[activities]\nmodules = ["acts"]\n',
        "x.op.toml": 'name = "x"\n[[phases]]\nname = "A"\n'
        'steps = [\n{ fn = "greet" },\n{ fn = "gret", odd = 1 }]\n',
    }

    problems = catalog(tmp_path, files).problems

    assert [(each.line, each.reason.partition(";")[0]) for each in problems] == [
        (4, "step p1.s2: unknown key 'odd'"),
        (4, "unknown fn 'gret' (did you mean greet?)"),
    ]


def test_two_ops_of_one_name_are_an_error_that_names_both_files(tmp_path: Path) -> None:
    twice = {f"{each}.op.toml": small_op("same") for each in "abc"}

    found = catalog(tmp_path, {**twice, "d.op.toml": small_op("other")})

    assert list(found.ops) == ["other"]
    assert [str(problem) for problem in found.problems] == [
        "b.op.toml:1: op 'same' is also declared in a.op.toml",
        "c.op.toml:1: op 'same' is also declared in b.op.toml",
    ]
    with pytest.raises(OpInvalid, match="also declared in"):
        found.find("same")


def test_an_unknown_op_lists_the_known_ones_and_the_broken_files(tmp_path: Path) -> None:
    files = {"a.op.toml": small_op("release"), "b.op.toml": "x = "}

    with pytest.raises(OpNotFound) as raised:
        catalog(tmp_path, files).find("relaese")

    first, second = str(raised.value).split("\n")
    assert first == "unknown op 'relaese' (did you mean release?); known: release"
    assert second.startswith("b.op.toml:1: ")


def test_folders_of_other_people_are_skipped(tmp_path: Path) -> None:
    places = (".git", ".venv", "node_modules", "dist", "deep/node_modules", "ops/.hidden")
    files = {f"{place}/x.op.toml": small_op(f"x{n}") for n, place in enumerate(places)}

    assert list(catalog(tmp_path, {**files, "deep/ops/y.op.toml": small_op("y")}).ops) == ["y"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('nam = "x"\n', ":1: op: name is missing"),
        ('name = "Not Kebab"\n', ":1: op Not Kebab: name 'Not Kebab' must be kebab-case"),
        ('name = "x"\n', "op x: it has no phases"),
        ('name = "x"\nphases = 3\n', ":2: op x: phases must be a list, not 3"),
        ('name = "x"\n[[phases]]\nname = "A"\n', ":2: phase A: it has no steps"),
        (
            'name = "x"\n[[phases]]\nname = "A"\n[[phases.steps]]\nid = "s"\n',
            ":4: step s needs one of fn, gate, point; it has none of them",
        ),
        (
            'name = "x"\n[[phases]]\nname = "A"\n[[phases.steps]]\nfn = "shell"\ngate = "g"\n',
            "it has fn and gate",
        ),
        (
            'name = "x"\n[[phases]]\nname = "A"\n[[phases.steps]]\nfn = "shell"\nprofil = "g"\n',
            ":6: step p1.s1: unknown key 'profil' (did you mean profile?)",
        ),
        (
            'name = "x"\n[[phases]]\nname = "A"\n[[phases.steps]]\nfn = "shell"\ntimeout = "5mx"\n',
            ":6: step p1.s1: duration '5mx'",
        ),
        (
            'name = "x"\n[[phases]]\nname = "A"\n[[phases.steps]]\nfn=""\nargs={at=2026-01-01}\n',
            ":6: args of step p1.s1: at holds a date or time; write it as text",
        ),
        ('name = "x"\n[params.v]\ntype = "text"\n', ":3: param v: unknown type 'text'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    found = catalog(tmp_path, {"a.op.toml": text})

    assert found.ops == {}
    assert any(message in str(problem) for problem in found.problems), found.problems


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"name = 'x'\n\xff\xfe", "a.op.toml:2: is not UTF-8"),
        (b"#" * (1024 * 1024 + 1), "larger than 1048576 bytes"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"a = " + b"[" * 101 + b"]" * 101, "nested too deeply; at most 100 levels"),
        (b"\n" + b"a." * 3000 + b"a = 1", "a.op.toml:2: is nested too deeply"),
        (b"\n[" + b"a." * 300_000 + b"a]", "a.op.toml:2: is nested too deeply"),
        (b"\n\na = " + b"9" * 5000, "a.op.toml:3: not valid TOML: an integer has more than"),
    ],
)
def test_a_file_that_is_no_text_is_a_problem_and_no_crash(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    (tmp_path / "a.op.toml").write_bytes(data)

    (problem,) = catalog(tmp_path, {}).problems

    assert reason in str(problem)
