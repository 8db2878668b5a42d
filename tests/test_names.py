"""Our top-level names are generic: nothing else may ship them, and no workspace may shadow them."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from importlib.metadata import distribution, packages_distributions
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agents import CHANT, RADIAN
from tests.e2e.talk import Talk
from tests.runtimes.radian.box import make_box
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

OURS = ("actors", "ops", "protocol", "runtimes")

HOSTILE = """\
import os, pathlib
pathlib.Path(os.environ["PLANTED_MARK"]).write_text(__name__)
raise SystemExit("code from the workspace ran")
"""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Make a workspace that has packages called like ours, and modules called like what we use."""
    return plant(tmp_path / "workspace")


def plant(folder: Path) -> Path:
    for package in (*OURS, "pykka", "click"):
        (folder / package).mkdir(parents=True, exist_ok=True)
        (folder / package / "__init__.py").write_text(HOSTILE)
    for module in ("json", "orjson", "typing", "threading", "sitecustomize"):
        (folder / f"{module}.py").write_text(HOSTILE)
    return folder


def _environment(mark: Path) -> dict[str, str]:
    """Return what a bare login has: no PYTHONPATH, no PATH to find our scripts by."""
    return {"HOME": os.environ.get("HOME", ""), "PATH": os.defpath, "PLANTED_MARK": str(mark)}


def test_no_dependency_ships_a_package_called_like_ours() -> None:
    shippers = packages_distributions()

    assert {name: set(shippers.get(name, ())) - {"chantry"} for name in OURS} == {
        name: set() for name in OURS
    }


def test_the_wheel_has_our_packages_and_no_others() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert tuple(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == OURS
    assert "Private :: Do Not Upload" in project["project"]["classifiers"]


def test_the_console_scripts_are_the_only_way_in() -> None:
    entries = {(entry.group, entry.name) for entry in distribution("chantry").entry_points}

    assert entries == {
        ("console_scripts", "chant"),
        ("console_scripts", "radian"),
        ("console_scripts", "chantry"),
        ("pytest11", "chantry_faults"),  # for people's own tests; loads nothing by itself
    }
    assert [str(path) for name in OURS for path in (ROOT / name).rglob("__main__.py")] == []


@pytest.mark.parametrize(
    "words",
    [
        ["chant", "--help"],
        ["chant", "list"],
        ["chant", "run", "--help"],
        ["chantry", "--help"],
        ["chantry", "drive", "--help"],
        ["radian", "--help"],
    ],
    ids=" ".join,
)
def test_a_workspace_cannot_shadow_our_packages(workspace: Path, words: list[str]) -> None:
    mark = workspace.parent / "mark"

    run = subprocess.run(
        [script(words[0]), *words[1:]],
        cwd=workspace,
        env=_environment(mark),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert not mark.exists(), f"{mark.read_text()} was imported from the workspace"
    assert "Traceback" not in run.stderr


def test_a_served_workspace_cannot_shadow_our_packages(workspace: Path) -> None:
    mark = workspace.parent / "mark"
    params = {"cwd": str(workspace), "mcpServers": []}
    new_session = {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": params}

    with subprocess.Popen(
        [script("chant"), "acp"],
        cwd=workspace,
        env=_environment(mark),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        answered: list[int] = []
        for request in (INITIALIZE, new_session):
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            answered.append(json.loads(server.stdout.readline())["id"])

    assert not mark.exists(), f"{mark.read_text()} was imported from the workspace"
    assert answered == [1, 2]


RUN_OP = "run sh --param script=true"


@pytest.mark.parametrize("line", [RUN_OP, "build", "run list", "lint", "doctor"])
def test_a_project_at_work_cannot_shadow_our_packages(tmp_path: Path, line: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    CHANT.prepare(project)
    plant(project)

    run = subprocess.run(
        [script("chant"), *line.split()],
        cwd=project,
        env=_environment(tmp_path / "mark"),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert not (tmp_path / "mark").exists(), f"{line} ran code of the workspace"
    assert (run.returncode in {0, 1}, "Traceback" in run.stderr) == (True, False), run.stderr
    assert (run.returncode == 0) or line in {"lint", "doctor"}, run.stderr


CALLS = [
    {"name": name, "input": values}
    for name, values in (
        ("glob", {"pattern": "*"}),
        ("grep", {"pattern": "planted"}),
        ("write", {"path": "a.txt", "content": "x"}),
        ("shell", {"command": "echo hi"}),
    )
]


@pytest.mark.parametrize("profile", ["workspace", "full"])
def test_an_agent_at_work_cannot_be_shadowed_by_its_workspace(tmp_path: Path, profile: str) -> None:
    box = make_box(tmp_path)
    plant(box.workspace)
    box.play({"tool_calls": CALLS}, {"text": "Done."}, then="repeat-last")
    mark = tmp_path / "mark"
    env = {**_environment(mark), "RADIAN_HOME": str(box.home), "HOME": str(tmp_path)}

    run = subprocess.run(
        [script("radian"), "exec", "-p", "go", "--trust", "--profile", profile],
        cwd=box.workspace,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    served = (script("radian"), "acp", "--trust", "--profile", profile)
    with Talk(RADIAN, box.workspace, command=served, env=env, cwd=str(box.workspace)) as client:
        client.open()
        turn = client.turn("go")

    assert not mark.exists(), f"{mark.read_text()} was imported from the workspace"
    assert (run.returncode, run.stdout) == (0, "Done.\n"), run.stderr
    assert (turn.stop_reason, turn.text) == ("end_turn", "Done.")
    assert (box.workspace / "a.txt").read_text() == "x"
