"""Surroundings that are not as they should be: a clear word or a stated mode, and nothing lost.

All of it through the command line, on real repositories and, for full and read-only disks, on a
small file system of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from ops.ledger import Ledger, open_ledger
from ops.project import LedgerSettings
from tests.ops.projects import git
from tests.runtimes.chant.projects import RELEASE, ledger_lines, make_project
from tests.runtimes.chant.talk import Said, chant
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BRANCH = "refs/heads/chant/lifecycle"
TOUCHING = RELEASE.replace("echo", "touch ran; echo")
DEPENDING = RELEASE.replace('name = "release"', 'name = "deploy"\ndepends = ["release"]')
SLOW = """\
name = "slow"
[[phases]]
name = "Work"
[[phases.steps]]
fn = "shell"
args = { cmd = "echo up > up; until [ -e go ]; do sleep 0.05; done" }
"""
FILLING = """\
name = "filling"
[[phases]]
name = "Work"
[[phases.steps]]
fn = "shell"
args = { cmd = "cat /dev/zero > filler 2>&1; true" }
"""
NOBODY = {"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


@pytest.fixture
def box(tmp_path: Path) -> Path:
    folder = make_project(tmp_path / "box", release=TOUCHING, deploy=DEPENDING, slow=SLOW)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def records(folder: Path, op: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ledger_lines(folder, "local", op)]


def ledger_of(folder: Path) -> Ledger:
    opened = open_ledger(str(folder), LedgerSettings())
    assert isinstance(opened, Ledger)
    return opened


def set_ledger(folder: Path, lines: str) -> None:
    with (folder / "chant.toml").open("a") as stream:
        stream.write(f"\n[ledger]\n{lines}\n")


def shim(folder: Path, script_text: str) -> dict[str, str]:
    """Return a PATH on which git is a script; ``$GIT`` is the real one."""
    real = shutil.which("git")
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\nGIT={real}\n{script_text}\nexec $GIT "$@"\n')
    (folder / "git").chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


# Repositories.


def test_without_a_repository_a_run_is_refused_or_leaves_no_record(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "box", git=False, release=TOUCHING)

    refused = chant(folder, "run", "release", GIT_CEILING_DIRECTORIES=str(tmp_path))

    assert refused.code == 4
    assert "is not in a git repository" in refused.err
    assert "git init makes one; with --no-ledger it runs and leaves no record" in refused.err
    assert not (folder / "ran").exists()
    ran = chant(folder, "run", "release", "--no-ledger", GIT_CEILING_DIRECTORIES=str(tmp_path))
    assert (ran.code, "this run leaves no record" in ran.err) == (0, True)


def test_outside_of_any_project_every_verb_says_so(tmp_path: Path) -> None:
    for words in (("list",), ("run", "x"), ("build",)):
        said = chant(tmp_path, *words, GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
        assert (said.code, said.out) == (4, "")
        assert "no chant.toml and no git checkout here or in a folder above" in said.err
        assert said.err.endswith("; chant init begins one\n")


def test_a_detached_and_dirty_checkout_is_recorded_as_such_and_left_alone(box: Path) -> None:
    git(box, "checkout", "-q", "--detach")
    (box / "ops" / "slow.op.toml").write_text(SLOW + "# changed\n")
    before = git(box, "status", "--porcelain"), git(box, "rev-parse", "HEAD")

    assert chant(box, "run", "release").code == 0

    (record,) = records(box, "release")
    assert record["git"] == {"commit": before[1], "dirty": True}
    (box / "ran").unlink()
    assert (git(box, "status", "--porcelain"), git(box, "rev-parse", "HEAD")) == before
    assert git(box, "branch", "--show-current") == ""


def test_without_an_identity_the_record_is_made_all_the_same(box: Path) -> None:
    assert chant(box, "run", "release", **NOBODY).code == 0

    assert git(box, "log", "--format=%an", "chant/lifecycle") == "chant"
    (line,) = (x for x in chant(box, "doctor", **NOBODY).out.splitlines() if "identity" in x)
    assert line.startswith("warn  identity ")
    assert line.endswith("set one with: git config --global user.name NAME, and user.email")


def test_a_shallow_clone_without_the_branch_says_what_it_can_t_know(box: Path) -> None:
    assert chant(box, "run", "release").code == 0
    clone = box.parent / "clone"
    git(box.parent, "clone", "-q", "--depth", "1", f"file://{box}", "clone")

    first = chant(clone, "run", "release")
    again = chant(clone, "run", "release")

    assert first.code == 0
    assert "this clone is shallow and has no chant/lifecycle; git fetch" in first.err
    assert (again.code, again.err) == (0, "")


def test_a_clone_says_that_the_remote_s_records_are_not_here_yet(box: Path) -> None:
    assert chant(box, "run", "release").code == 0
    clone = box.parent / "clone"
    git(box.parent, "clone", "-q", str(box), "clone")

    said = chant(clone, "run", "deploy")
    assert "is not ok in local: never run" in said.err
    said = chant(clone, "run", "release")
    assert "git branch chant/lifecycle origin/chant/lifecycle brings them" in said.err


def test_clones_of_a_project_that_shares_its_ledger_begin_with_what_is_there(box: Path) -> None:
    with (box / "chant.toml").open("a") as file:
        file.write('[ledger]\nremote = "origin"\npush = "try"\n')
    git(box, "commit", "-qam", "share the ledger")
    git(box.parent, "clone", "-q", "--bare", str(box), "remote.git")
    git(box, "remote", "add", "origin", str(box.parent / "remote.git"))
    assert chant(box, "run", "release").code == 0
    for name in ("one", "two"):
        git(box.parent, "clone", "-q", str(box.parent / "remote.git"), name)
    one, two = box.parent / "one", box.parent / "two"

    first = chant(one, "run", "deploy")
    second = chant(two, "run", "deploy")
    third = chant(one, "run", "release")

    assert [(each.code, each.err) for each in (first, second, third)] == [(0, "")] * 3
    assert [len(records(one, op)) for op in ("release", "deploy")] == [2, 2]
    assert git(one, "rev-parse", BRANCH) == git(box.parent / "remote.git", "rev-parse", BRANCH)
    assert len(git(one, "rev-list", "--max-parents=0", BRANCH).split()) == 1


def test_a_branch_that_moves_meanwhile_loses_neither_record(box: Path) -> None:
    assert chant(box, "run", "release").code == 0
    other = ledger_of(box)
    tree = git(box, "rev-parse", f"{BRANCH}^{{tree}}")
    moved = git(box, "commit-tree", tree, "-p", other.branch.tip() or "", "-m", "someone else")
    env = shim(
        box.parent / "bin",
        f'case "$*" in *update-ref*) [ -e {box}/.git/moved ] ||'
        f" {{ touch {box}/.git/moved; $GIT -C {box} update-ref {BRANCH} {moved}; }};; esac",
    )

    assert chant(box, "run", "release", **env).code == 0

    assert len(records(box, "release")) == 2
    assert "someone else" in git(box, "log", "--format=%s", "chant/lifecycle")


@pytest.mark.parametrize(("push", "code"), [("try", 0), ("require", 1)])
def test_a_remote_that_refuses_is_told_as_the_policy_says(box: Path, push: str, code: int) -> None:
    git(box.parent, "init", "-q", "--bare", "there.git")
    hook = box.parent / "there.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no entry >&2\nexit 1\n")
    hook.chmod(0o755)
    git(box, "remote", "add", "origin", str(box.parent / "there.git"))
    set_ledger(box, f'remote = "origin"\npush = "{push}"')

    said = chant(box, "run", "release")

    assert said.code == code
    assert "the record is on this machine only" in said.err
    assert [each["status"] for each in records(box, "release")] == ["ok"]


def test_a_clock_that_went_back_does_not_bring_an_old_run_back(box: Path) -> None:
    future = {
        "version": 1,
        "id": "20990101-000000000-00000000",
        "op": "release",
        "env": "local",
        "status": "fail",
        "started": "2099-01-01T00:00:00.000Z",
        "ended": "2099-01-01T00:00:00.000Z",
    }
    ledger_of(box).append_run(future)
    assert chant(box, "run", "deploy").code == 4

    assert chant(box, "run", "release").code == 0

    assert [each["status"] for each in records(box, "release")] == ["fail", "ok"]
    assert chant(box, "run", "deploy").code == 0


# Two at once.


@pytest.fixture
def running(box: Path) -> Iterator[int]:
    """The process of a run of ``slow`` that is under way; it ends when a file ``go`` is there."""
    words = [script("chant"), "run", "slow"]
    with subprocess.Popen(words, cwd=box, stdout=subprocess.DEVNULL) as process:
        until = ["/bin/sh", "-c", "until [ -e up ]; do sleep 0.05; done"]
        subprocess.run(until, cwd=box, check=True, timeout=60)
        yield process.pid
        (box / "go").touch()


def test_two_runs_of_one_op_go_on_side_by_side_and_the_second_says_so(
    box: Path, running: int
) -> None:
    words = [script("chant"), "run", "slow"]
    with subprocess.Popen(
        words, cwd=box, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as second:
        assert second.stderr is not None
        said = second.stderr.readline()
        (box / "go").touch()
        assert second.wait(60) == 0

    assert said.startswith("slow is running in local already: ")
    assert said.endswith(f"(process {running}); this run goes on beside it\n")


def test_an_op_that_still_runs_is_not_ok_for_those_that_depend_on_it(
    box: Path, running: int
) -> None:
    (box / "ops" / "deploy.op.toml").write_text(DEPENDING.replace('"release"', '"slow"'))
    assert running

    said = chant(box, "run", "deploy")

    assert said.code == 4
    assert "deploy depends on slow, which is not ok in local: still running" in said.err


# Disks.


def on_a_small_disk(folder: Path, text: str) -> Said:
    """Run a script in a project on a file system of 1 MiB, which only that script sees."""
    mounted = folder / "disk"
    mounted.mkdir()
    make_project(folder / "project", release=TOUCHING, filling=FILLING)
    text = f"""\
mount -t tmpfs -o size=1m tmpfs {mounted} || exit 99
cp -r {folder}/project {mounted}/box && cd {mounted}/box
chant() {{ {script("chant")} "$@"; echo "code $?"; }}
{text}
"""
    words = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", text]
    ran = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=100, stdin=subprocess.DEVNULL
    )
    if ran.returncode == 99 or "unshare failed" in ran.stderr:
        pytest.skip(f"no file systems of one's own here: {ran.stderr.strip()}")
    return Said(ran.returncode, ran.stdout, ran.stderr)


def test_a_disk_that_fills_up_loses_no_run(tmp_path: Path) -> None:
    said = on_a_small_disk(
        tmp_path,
        "chant run filling; chant run release; [ -e ran ] || echo nothing ran; rm filler;"
        " chant run release; git show chant/lifecycle:local/runs/filling.jsonl",
    )

    assert "the run is not in the ledger: git hash-object failed" in said.err
    assert "No space left on device" in said.err
    codes = [line for line in said.out.splitlines() if line.startswith("code")]
    assert (codes, "nothing ran" in said.out) == (["code 1", "code 4", "code 0"], True)
    assert "of filling was interrupted" in said.err or "is in the ledger now: ok" in said.err
    assert json.loads(said.out.splitlines()[-1])["op"] == "filling"


def test_on_a_read_only_disk_a_run_is_refused_and_what_only_reads_works(tmp_path: Path) -> None:
    said = on_a_small_disk(
        tmp_path,
        "chant run release >/dev/null; rm ran; mount -o remount,ro .. ; chant list; chant build;"
        " chant run release; chant run list; [ -e ran ] || echo nothing ran",
    )

    assert "nothing ran" in said.out
    assert said.err.count("Read-only file system") == 2
    assert "the run can't be prepared" in said.err
    codes = [line for line in said.out.splitlines() if line.startswith("code")]
    assert codes == ["code 0", "code 1", "code 4", "code 0"]
