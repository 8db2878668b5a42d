"""Trust is looked up in a file of ours; an untrusted project is not touched."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

from actors.faults import NoFaults
from runtimes.radian.trust import Trust, TrustFile, TrustInvalidError, brings_something
from tests.fakes import Running
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TRAPS = (
    ".radian/config.toml",
    ".radian/hooks/x",
    ".git/config",
    ".mcp.json",
    "AGENTS.md",
    ".envrc",
    "sitecustomize.py",
    "orjson.py",
    ".rgignore",
)


def _file(tmp_path: Path) -> TrustFile:
    return TrustFile(str(tmp_path / "radian/trust.json"), NoFaults())


def test_the_nearest_listed_parent_decides(tmp_path: Path) -> None:
    trust = _file(tmp_path)
    outer, inner = tmp_path / "a", tmp_path / "a/b/c"
    inner.mkdir(parents=True)
    trust.save(str(outer), trusted=True)
    trust.save(str(tmp_path / "a/b"), trusted=False)

    assert trust.look_up(str(inner)) == Trust(trusted=False, listed=str(tmp_path / "a/b"))
    assert trust.look_up(str(outer / "x")) == Trust(trusted=True, listed=str(outer))
    assert trust.look_up(str(tmp_path)) == Trust(trusted=False)


def test_a_link_to_a_trusted_folder_is_that_folder(tmp_path: Path) -> None:
    trust = _file(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    trust.save(str(tmp_path / "link"), trusted=True)

    assert trust.look_up(str(tmp_path / "real")).trusted
    assert trust.forget(str(tmp_path / "real"))
    assert not trust.forget(str(tmp_path / "real"))
    assert not trust.look_up(str(tmp_path / "link")).trusted


def test_a_file_of_that_name_prefix_is_no_parent(tmp_path: Path) -> None:
    trust = _file(tmp_path)
    trust.save(str(tmp_path / "box"), trusted=True)

    assert not trust.look_up(str(tmp_path / "box2")).trusted


@pytest.mark.parametrize("content", ["{", "[]", '{"/": true}'])
def test_a_broken_file_trusts_nothing_and_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    trust = _file(tmp_path)
    path = tmp_path / "radian/trust.json"
    path.parent.mkdir()
    path.write_text(content)

    for use in (lambda: trust.look_up("/"), lambda: trust.save("/", trusted=True)):
        with pytest.raises(TrustInvalidError, match=r"trust\.json"):
            use()
    assert path.read_text() == content


def test_an_answer_is_written_for_nobody_else_to_read(tmp_path: Path) -> None:
    _file(tmp_path).save(str(tmp_path), trusted=True)

    assert (tmp_path / "radian/trust.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "radian").stat().st_mode & 0o777 == 0o700


def test_two_answers_at_once_are_both_kept(tmp_path: Path) -> None:
    trust = _file(tmp_path)
    names = [f"p{number}" for number in range(8)]

    for each in [Running(partial(trust.save, f"/{name}", trusted=True)) for name in names]:
        each.result()

    assert all(trust.look_up(f"/{name}").trusted for name in names)


def test_an_untrusted_project_full_of_traps_is_not_read_and_starts_nothing(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    for name in TRAPS:
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raise SystemExit('a trap')")
    script = f"""
import os, sys
from actors.faults import NoFaults
from runtimes.radian.secret_set import secret_paths
from runtimes.radian.rules import parse_rules
from runtimes.radian.tools.builtin import builtin_tools
from runtimes.radian.tools.places import Places
from runtimes.radian.tools.sandbox import Sandboxes
from runtimes.radian.trust import TrustFile, brings_something
workspace, home = {str(workspace)!r}, {str(tmp_path)!r}
touched = []
watched = ("open", "subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "socket.connect",
           "os.listdir", "os.scandir", "os.system")
def hook(event, arguments):
    looks = event in ("open", "os.listdir", "os.scandir")
    if event in watched and (not looks or workspace in str(arguments[0])):
        touched.append((event, str(arguments[:1])))
sys.addaudithook(hook)
os.chdir(workspace)
assert not TrustFile(home + "/radian/trust.json", NoFaults()).look_up(workspace).trusted
assert brings_something(workspace)
tools = builtin_tools("workspace", dict(os.environ))
places = Places(workspace, (), secret_paths(home, home + "/radian"))
rules = parse_rules(["shell(ls *)"], ["read(private)"], "config", workspace=workspace, home=home)
Sandboxes(NoFaults())
sys.stdout.write(repr((touched, sorted(tools))))
"""
    done = _run(script, workspace)

    names = ["fetch", "glob", "grep", "job", "patch", "read", "shell"]
    names += ["subagent", "todo", "write"]
    assert done == repr(([], names))


@pytest.mark.parametrize(
    ("made", "brings"),
    [
        ((), False),
        (("README.md", "agents.md", ".radian/notes"), False),
        (("AGENTS.md",), True),
        ((".radian/config.toml",), True),
        (("AGENTS.md/x", ".radian/config.toml/x"), False),
        ((".radian",), False),
    ],
)
def test_what_a_project_brings_is_known_by_names(
    tmp_path: Path,
    made: tuple[str, ...],
    brings: bool,  # noqa: FBT001 - a column
) -> None:
    for name in made:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    assert brings_something(str(tmp_path)) is brings


@pytest.mark.parametrize("name", ["AGENTS.md", ".radian"])
def test_links_and_pipes_of_a_project_are_not_followed_or_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("nowhere")
    assert brings_something(str(tmp_path))
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)

    assert brings_something(str(tmp_path)) is (name == "AGENTS.md")


def _run(script: str, folder: Path) -> str:
    import subprocess

    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
