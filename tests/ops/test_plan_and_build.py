from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from ops.build import build
from ops.errors import EnvUnknown, OpInvalid, ParamInvalid
from ops.facts import run_facts
from ops.plan import make_plan
from ops.step_env import process_env
from tests.ops.projects import RELEASE, catalog, git, repository, small_op

if TYPE_CHECKING:
    from pathlib import Path

    from ops.plan import Plan


def release(tmp_path: Path, env: str = "local", version: str = "1") -> Plan:
    found = catalog(tmp_path, {"ops/release.op.toml": RELEASE})
    return make_plan(found.find("release"), found.project, env, {"version": version}, {})


def test_the_plan_shows_every_declared_step_with_title_and_args(tmp_path: Path) -> None:
    plan = release(tmp_path)

    assert [step.title for step in plan.steps] == [
        "Build / shell",
        "Build / exec",
        "Deploy / gate:deploy-window",
        "Deploy / copy",
        "Deploy / http_check",
    ]
    assert plan.steps[3].args == {"src": {"from": "pack", "path": "stdout"}, "dest": "/srv/box/"}
    assert [step.timeout_s for step in plan.steps] == [300.0, 600.0, None, 300.0, 900.0]
    assert plan.steps[4].retry.attempts == 3
    assert [step.compensates for step in plan.on_failure[0].steps] == [True]
    assert plan.params == {"version": "1"}


def test_digests_follow_what_they_are_of(tmp_path: Path) -> None:
    first, again, other = release(tmp_path), release(tmp_path), release(tmp_path, version="2")

    assert first == again
    assert first.op_digest == other.op_digest
    assert first.params_digest != other.params_digest
    assert first.op_digest.startswith("sha256:")


def test_an_op_runs_only_where_it_says(tmp_path: Path) -> None:
    with pytest.raises(
        EnvUnknown, match="does not run in environment 'test'; it declares: local, prod"
    ):
        release(tmp_path, env="test")


def test_a_build_writes_plans_and_manifest_and_the_same_input_gives_the_same_bytes(
    tmp_path: Path,
) -> None:
    files = {"ops/release.op.toml": RELEASE, "ops/a.op.toml": small_op("a")}
    found = catalog(tmp_path, files)

    first = build(found, "local", {}, {}, check=False)
    again = build(catalog(tmp_path, files), "local", {}, {}, check=True)

    assert sorted(first.stale) == [
        "dist/manifest.json",
        "dist/plans/local/a.json",
        "dist/plans/local/release.json",
    ]
    assert (again.stale, again.files) == ((), first.files)
    manifest = json.loads((tmp_path / "dist/manifest.json").read_bytes())
    assert manifest == first.value
    assert manifest["ops"]["release"]["needs"] == ["version"]
    assert list(manifest["ops"]) == ["a", "release"]


def test_a_check_writes_nothing_and_names_what_is_stale(tmp_path: Path) -> None:
    found = catalog(tmp_path, {"a.op.toml": small_op("a"), "b.op.toml": small_op("b")})
    assert build(found, "local", {}, {}, check=True).stale
    assert not (tmp_path / "dist").exists()

    build(found, "local", {}, {}, check=False)
    os.unlink(tmp_path / "b.op.toml")
    changed = catalog(tmp_path, {"a.op.toml": small_op("a", cmd="false")})

    stale = build(changed, "local", {}, {}, check=True).stale
    assert sorted(stale) == [
        "dist/manifest.json",
        "dist/plans/local/a.json",
        "dist/plans/local/b.json",
    ]
    build(changed, "local", {}, {}, check=False)
    assert os.listdir(tmp_path / "dist/plans/local") == ["a.json"]


def test_a_build_with_findings_names_them_all_and_writes_nothing(tmp_path: Path) -> None:
    bad = {"a.op.toml": small_op("a").replace("shell", "shel"), "b.op.toml": "x = "}

    with pytest.raises(OpInvalid) as raised:
        build(catalog(tmp_path, bad), "local", {}, {}, check=False)

    assert [line.partition(": ")[0] for line in str(raised.value).split("\n")] == [
        "b.op.toml:1",
        "a.op.toml:6",
    ]
    assert not (tmp_path / "dist").exists()


def test_a_parameter_that_nothing_declares_is_refused(tmp_path: Path) -> None:
    found = catalog(tmp_path, {"ops/release.op.toml": RELEASE})

    with pytest.raises(ParamInvalid, match="did you mean version"):
        build(found, "local", {"verison": "1"}, {}, check=True)


def test_a_step_gets_no_variables_of_another_run() -> None:
    base = {"HOME": "/h", "CHANT_PARAM_X": "old", "CHANT_FAILURE_STEP": "old", "CHANT_STEWARD": "s"}

    assert process_env(base, {"CHANT_PARAM_Y": "new"}) == {
        "HOME": "/h",
        "CHANT_STEWARD": "s",
        "CHANT_PARAM_Y": "new",
    }


def test_facts_name_commit_and_changes(tmp_path: Path) -> None:
    assert run_facts(str(tmp_path), {"USER": "ann"}).commit is None

    repository(tmp_path)
    clean = run_facts(str(tmp_path), {"USER": "ann", "PATH": os.environ["PATH"]})
    (tmp_path / "file.txt").write_text("two\n")
    dirty = run_facts(str(tmp_path), {"CHANT_ACTOR": "bot", "PATH": os.environ["PATH"]})

    assert (clean.actor, clean.dirty, clean.commit) == (
        "ann",
        False,
        git(tmp_path, "rev-parse", "HEAD"),
    )
    assert (dirty.actor, dirty.dirty) == ("bot", True)
