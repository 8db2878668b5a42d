"""Activities that do what the verbs do, and those that run git, kubectl and helm."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from ops.activities import activity
from ops.errors import ActivityFailed, OpInvalid
from ops.step_env import process_env
from ops.work import ActivityContext, ProcessWork
from tests.ops.projects import git, project, repository, small_op
from tests.ops.works import Context, process, run

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = '[project]\nname = "box"\nenvironments = ["local", "prod"]\n'
RESOURCE = '\n[[resource]]\nname = "readme"\nreader = "file"\npath = "README.md"\n'


def box(folder: Path, more: str = "") -> Path:
    repository(folder)
    project(folder, {"chant.toml": CONFIG + more, "one.op.toml": small_op("one")})
    return folder


def carry_out(work: ProcessWork) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        work.argv, cwd=work.cwd, env=dict(work.env), capture_output=True, text=True, check=False
    )


def test_build_writes_and_then_finds_nothing_to_write(tmp_path: Path) -> None:
    box(tmp_path)

    assert run("build", tmp_path)["changed"] == ["dist/plans/local/one.json", "dist/manifest.json"]
    assert run("build", tmp_path, check=True)["changed"] == []
    (tmp_path / "dist/manifest.json").write_text("old")
    with pytest.raises(ActivityFailed, match=r"not up to date: dist/manifest\.json"):
        run("build", tmp_path, check=True)


def test_build_and_lint_fail_on_a_broken_op(tmp_path: Path) -> None:
    box(tmp_path)
    (tmp_path / "two.op.toml").write_text("name = ")

    with pytest.raises(OpInvalid, match=r"two\.op\.toml:1"):
        run("build", tmp_path)
    with pytest.raises(ActivityFailed, match="lint: 1 errors"):
        run("lint", tmp_path)


def test_lint_counts_and_may_be_strict(tmp_path: Path) -> None:
    box(tmp_path)

    counts = run("lint", tmp_path)

    assert counts["error"] == 0
    assert set(counts) == {"error", "warning", "info"}


def test_a_snapshot_is_what_a_diff_compares_with(tmp_path: Path) -> None:
    box(tmp_path, RESOURCE)
    (tmp_path / "README.md").write_text("one\n")
    assert run("snapshot", tmp_path, name="first") == {
        "name": "first",
        "resources": 1,
        "pushed": False,
    }

    assert run("diff", tmp_path) == {"drift": False, "counts": {"unchanged": 1}}
    (tmp_path / "README.md").write_text("two\n")
    context = Context()
    with pytest.raises(ActivityFailed, match="drift: 1 drifted"):
        run("diff", tmp_path, context)

    assert "readme: drifted" in context.said[0][1]
    assert run("diff", tmp_path, allow_drift=True)["drift"] is True


def test_a_snapshot_of_nothing_or_of_nowhere_says_so(tmp_path: Path) -> None:
    with pytest.raises(ActivityFailed, match="no resources are declared in local"):
        run("snapshot", box(tmp_path / "a"))
    project(tmp_path / "b", {"chant.toml": CONFIG + RESOURCE})
    with pytest.raises(ActivityFailed, match="not in a git repository"):
        run("snapshot", tmp_path / "b")


def test_a_cancelled_look_is_no_snapshot(tmp_path: Path) -> None:
    box(tmp_path, RESOURCE)
    context = Context()
    context.cancel.set()

    with pytest.raises(ActivityFailed, match="stopped"):
        run("snapshot", tmp_path, context)


def test_tags_are_set_and_pushed(tmp_path: Path) -> None:
    folder = repository(tmp_path / "box")
    git(tmp_path, "init", "-q", "--bare", "there.git")
    git(folder, "remote", "add", "origin", str(tmp_path / "there.git"))
    git(folder, "config", "user.name", "t")
    git(folder, "config", "user.email", "t@t")

    assert carry_out(process("git_tag", folder, name="v1", message="First\nof all")).returncode == 0
    assert carry_out(process("git_tag", folder, name="v1")).returncode != 0
    assert carry_out(process("git_tag", folder, name="v1", ref="main", force=True)).returncode == 0
    pushed = carry_out(process("git_push", folder, refs=["main", "v1"]))

    assert pushed.returncode == 0, pushed.stderr
    assert git(tmp_path / "there.git", "tag") == "v1"
    assert git(tmp_path / "there.git", "branch").strip() == "main"


def test_no_value_passes_for_a_flag_of_git(tmp_path: Path) -> None:
    folder = repository(tmp_path)

    assert carry_out(process("git_tag", folder, name="--list")).returncode != 0
    ran = carry_out(process("git_push", folder, remote="--all", refs=["main"]))
    assert ran.returncode != 0
    assert git(folder, "tag") == ""


def test_git_asks_nobody(tmp_path: Path) -> None:
    work = process("git_push", tmp_path, refs=["main"])

    assert work.env["GIT_TERMINAL_PROMPT"] == "0"
    assert process_env(work.env, {})["GIT_SSH_COMMAND"] == "ssh -oBatchMode=yes"


@pytest.mark.parametrize(
    ("fn", "args", "argv"),
    [
        (
            "kubectl_apply",
            {"files": ["a", "-x"], "namespace": "n", "context": "c", "dry_run": True},
            "kubectl apply --filename=a --filename=-x --namespace=n --context=c --dry-run=server",
        ),
        (
            "kubectl_apply",
            {"kustomize": "k", "server_side": True},
            "kubectl apply --kustomize=k --server-side",
        ),
        (
            "helm_upgrade",
            {"release": "r", "chart": "./c", "values": ["v.yaml"], "set": {"a.b": [1, "x"]}},
            'helm upgrade --install --values=v.yaml --set-json=a.b=[1,~"x"] -- r ./c',
        ),
        (
            "helm_upgrade",
            {"release": "r", "chart": "c", "namespace": "n", "wait": True, "limit": "1h30m"},
            "helm upgrade --install --namespace=n --wait --timeout=5400s -- r c",
        ),
    ],
)
def test_programs_get_plain_arguments(
    tmp_path: Path, fn: str, args: dict[str, object], argv: str
) -> None:
    work = activity(fn).prepare(args, ActivityContext(str(tmp_path), {}))

    assert isinstance(work, ProcessWork)
    assert [word.replace(" ", "~") for word in work.argv] == argv.split()
