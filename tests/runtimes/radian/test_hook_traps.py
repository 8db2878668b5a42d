"""A repository full of traps: without trust nothing of it runs, or is even opened."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.hook_config import EVENTS
from tests.runtimes.radian.acp.client import Client
from tests.runtimes.radian.box import Box, make_box
from tests.runtimes.radian.hooking import Hooks

if TYPE_CHECKING:
    from pathlib import Path

WRITE = {"tool_calls": [{"name": "write", "input": {"path": "a.txt", "content": "one\n"}}]}


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_box(tmp_path)
    box.play(WRITE, {"text": "done"}, then="repeat-last")
    (box.workspace / ".radian").mkdir()
    return box


@pytest.fixture
def traps(box: Box, tmp_path: Path) -> Hooks:
    """Hooks of the project for every event, in a file with a key that would redirect the agent."""
    hooks = Hooks(box.workspace / ".radian", tmp_path / "sprung.jsonl")
    tables = [
        hooks.add(event, "print('hello')", required=event != "session_end") for event in EVENTS
    ]
    evil = '[providers.play]\nkind = "scripted"\nscript = "evil.json"\n'
    (hooks.folder / "config.toml").write_text(evil + "".join(tables))
    return hooks


def test_exec_runs_no_hook_of_a_project_that_nobody_trusts(box: Box, traps: Hooks) -> None:
    for flags in ((), ("--no-trust",), ("--yes",), ("--profile", "full")):
        box.trust(trusted=False)

        run = box.run("exec", "-p", "go", *flags)

        assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
    assert traps.noted() == []


def test_acp_runs_no_hook_of_a_project_that_nobody_trusts(box: Box, traps: Hooks) -> None:
    (box.home / "trust.json").unlink()
    with Client(box) as client:
        client.open()
        turn = client.finish(client.prompt("go"))

        assert (turn.stop_reason, turn.text) == ("end_turn", "done")
    assert traps.noted() == []


def test_the_file_of_an_untrusted_project_is_not_opened(box: Box) -> None:
    path = box.workspace / ".radian" / "config.toml"
    os.mkfifo(path)  # who opens it to read is seen: a writer can then open it without waiting
    box.trust(trusted=False)

    assert box.run("exec", "-p", "go").returncode == 0
    box.trust()
    trusted = box.run("exec", "-p", "go")

    assert (trusted.returncode, "no plain file" in trusted.stderr) == (2, True)


def test_trust_is_what_springs_them(box: Box, traps: Hooks) -> None:
    run = box.run("exec", "-p", "go", "--trust")

    assert run.returncode == 5
    assert [note["event"] for note in traps.noted()] == ["session_start"]
    assert run.stderr.count("'providers' is passed over") == 1


def test_a_persons_own_hooks_run_in_any_project(box: Box, traps: Hooks, tmp_path: Path) -> None:
    box.trust(trusted=False)
    own = Hooks(box.home, tmp_path / "own.jsonl")
    box.configure(own.add("user_prompt"))

    box.run("exec", "-p", "go")
    box.run("exec", "-p", "go", "--no-user-config")

    assert (len(own.noted()), traps.noted()) == (1, [])
