"""Homes, workspaces and files of `radian` that are not what they should be."""

from __future__ import annotations

import errno
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from runtimes.models.credentials import radian_home, user_home
from runtimes.radian.tools.programs import on_path
from tests.runtimes.radian.box import CONFIG, Box, make_box
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def run_in(
    box: Box, folder: str | bytes, *words: str, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [script("radian"), *words],
        cwd=folder,
        env={**box.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )


# --- homes


@pytest.mark.parametrize("named", [{}, {"HOME": ""}, {"HOME": "box"}, {"HOME": "."}])
def test_without_a_home_the_current_folder_does_not_pass_for_one(named: dict[str, str]) -> None:
    home = user_home(named)

    assert os.path.isabs(home)
    assert radian_home(named) == os.path.join(home, ".radian")
    assert radian_home({**named, "RADIAN_HOME": "/r"}) == "/r"


def test_a_project_is_not_taken_for_the_person_where_there_is_no_home(box: Box) -> None:
    project = box.workspace / ".radian"
    project.mkdir()
    (project / "config.toml").write_text(CONFIG)
    (project / "turns.json").write_text('{"calls": [{"text": "the project speaks"}]}')

    run = run_in(box, str(box.workspace), "exec", "-p", "go", HOME="", RADIAN_HOME="")

    assert b"the project speaks" not in run.stdout
    assert not (project / "sessions").exists()


# --- workspaces


def test_a_workspace_that_no_journal_can_name_is_refused(box: Box) -> None:
    folder = os.fsencode(box.workspace) + b"/\xff"
    os.mkdir(folder)
    box.play({"text": "never"})

    for words in (("exec", "-p", "go"), ("exec", "--list"), ("trust",)):
        run = run_in(box, folder, *words)

        assert (run.returncode, run.stdout) == (2, b"")
        assert "its name is no UTF-8" in run.stderr.decode()


def test_a_current_folder_that_is_gone_is_told(box: Box) -> None:
    gone = box.workspace / "gone"
    gone.mkdir()
    command = f"rmdir {gone}; exec {script('radian')} exec -p go"

    run = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=gone,
        env=box.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (run.returncode, run.stderr) == (2, "radian exec: the current folder is gone\n")


# --- files


@pytest.mark.parametrize("name", ["config.toml", "turns.json"])
def test_a_file_that_the_system_does_not_open_is_told_in_words(box: Box, name: str) -> None:
    box.play({"text": "never"})
    (box.home / name).unlink()
    (box.home / name).symlink_to(name)

    run = box.run("exec", "-p", "go")

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.endswith(f"{box.home / name} can't be read: {os.strerror(errno.ELOOP)}\n")


@pytest.mark.parametrize("name", ["config.toml", "turns.json"])
def test_a_pipe_in_the_place_of_a_file_is_told(box: Box, name: str) -> None:
    box.play({"text": "never"})
    (box.home / name).unlink()
    os.mkfifo(box.home / name)

    run = box.run("exec", "-p", "go")

    assert (run.returncode, run.stdout) == (2, "")
    assert f"{name} can't be read" in run.stderr
    assert "no regular file" in run.stderr


def test_a_pipe_in_the_place_of_the_trust_file_trusts_nothing(box: Box) -> None:
    box.play({"text": "fine"})
    (box.home / "trust.json").unlink()
    os.mkfifo(box.home / "trust.json")

    run = box.run("exec", "-p", "go")

    assert (run.returncode, run.stdout) == (0, "fine\n")
    assert "no regular file; no project is trusted" in run.stderr


@pytest.mark.parametrize("endless", [True, False])
def test_what_is_no_journal_is_passed_over_and_never_waited_for(box: Box, *, endless: bool) -> None:
    box.play({"text": "fine"})
    box.run("exec", "-p", "find me", "--session-id", "good")
    odd = box.home / "sessions" / "odd.jsonl"
    if endless:
        odd.symlink_to("/dev/zero")
    else:
        os.mkfifo(odd)

    assert box.run("exec", "--list").stdout.startswith("good ")
    assert box.run("exec", "--search", "find").stdout.startswith("good ")
    for words in (("-p", "x", "--resume", "odd"), ("--export", "odd"), ("--fork", "odd")):
        run = box.run("exec", *words)

        assert (run.returncode, run.stdout) == (1, "")
        assert "no regular file" in run.stderr


def test_a_mark_at_the_start_of_the_configuration_is_passed_over(box: Box) -> None:
    box.play({"text": "fine"})
    (box.home / "config.toml").write_text("\ufeff" + CONFIG)

    assert box.run("exec", "-p", "go").stdout == "fine\n"


# --- programs


def test_no_program_of_the_workspace_is_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "workspace"
    for folder in ("workspace/.venv/bin", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "tool").write_text("#!/bin/sh")
        (tmp_path / folder / "tool").chmod(0o755)
    (tmp_path / "link").symlink_to(workspace / ".venv/bin")
    folders = [workspace / ".venv/bin", tmp_path / "link", tmp_path / "elsewhere"]
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))

    assert on_path("tool", str(workspace)) == str(tmp_path / "elsewhere/tool")
    assert on_path("tool", "/") == str(workspace / ".venv/bin/tool")


def test_a_bubblewrap_in_the_environment_of_a_project_is_not_run(box: Box) -> None:
    programs = box.workspace / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("bwrap", "rg"):
        (programs / name).write_text(f"#!/bin/sh\ntouch {box.workspace}/{name}-ran\nexit 1\n")
        (programs / name).chmod(0o755)
    box.play(
        {"tool_calls": [{"name": "shell", "input": {"command": "true"}}]},
        {"tool_calls": [{"name": "grep", "input": {"pattern": "x"}}]},
        {"text": "done"},
    )

    run = run_in(
        box, str(box.workspace), "exec", "-p", "go", PATH=f"{programs}:{os.environ['PATH']}"
    )

    assert (run.returncode, run.stdout) == (0, b"done\n")
    assert sorted(each.name for each in box.workspace.iterdir()) == [".venv"]
