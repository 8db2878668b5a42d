"""The examples of the guide to hooks do what it says."""

from __future__ import annotations

import re
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.hook_config import EVENTS, hooks_of
from tests.runtimes.radian.box import Box, make_box, objects
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = (ROOT / "docs/hooks.md").read_text(encoding="utf-8")
SCRIPTS = dict(re.findall(r"`~/\.radian/hooks/(\S+)`:\n\n```\w+\n(.*?)```", GUIDE, re.DOTALL))
TABLES = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_box(tmp_path)
    (box.home / "hooks").mkdir()
    for name, text in SCRIPTS.items():
        path = box.home / "hooks" / name
        path.write_text(text)
        path.chmod(0o755)
    box.configure("\n".join(TABLES))
    return box


def test_the_guide_has_every_event_and_tables_that_can_be_read() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE)
    hooks = hooks_of(tomllib.loads("\n".join(TABLES))["hooks"], "guide", "/home/ada/.radian")

    assert tuple(rows) == EVENTS
    assert {hook.command[0].rpartition("/")[2] for hook in hooks} == set(SCRIPTS)


def test_the_examples_keep_a_push_away_and_a_turn_going_until_tests_pass(box: Box) -> None:
    subprocess.run(["git", "init", "-q", "-b", "side", box.workspace], check=True)
    (box.workspace / "Makefile").write_text("test:\n\ttest -f done\n")
    box.play(
        {"tool_calls": [{"name": "shell", "input": {"command": "git push origin side"}}]},
        {"text": "Ready."},
        {"tool_calls": [{"name": "write", "input": {"path": "done", "content": ""}}]},
        {"text": "Ready now."},
    )

    run = box.run("exec", "-p", "go", "--session-id", "s1", "--output", "jsonl")

    assert (run.returncode, objects(run.stdout)[-1]["text"]) == (0, "Ready now.")
    messages = [each for each in box.journal("s1") if each["type"] == "UserMessage"]
    told = [str(each["content"]) for each in messages if each.get("source") == "hook"]
    assert ["The branch is side" in told[0], "make test fails" in told[1]] == [True, True]
    denied = next(each for each in objects(run.stdout) if each["type"] == "Permission")
    assert "pushing is left to people" in denied["reason"]
