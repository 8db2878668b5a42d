"""A person's home and a workspace, and `radian` in them as a program."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
default_provider = "play"

[providers.play]
kind = "scripted"
script = "turns.json"
"""


@dataclass(frozen=True, slots=True)
class Box:
    """``home`` is radian's own folder."""

    home: Path
    workspace: Path

    def play(self, *calls: dict[str, Any], then: str = "error") -> None:
        """Have the model answer this, call by call."""
        self.home.joinpath("turns.json").write_text(json.dumps({"calls": calls, "then": then}))

    def trust(self, *, trusted: bool = True) -> None:
        """Have the trust file list the workspace."""
        entries = {os.path.realpath(self.workspace): {"trusted": trusted, "when": "2026-01-01"}}
        self.home.joinpath("trust.json").write_text(json.dumps(entries))

    def configure(self, text: str) -> None:
        """Add to the configuration."""
        path = self.home / "config.toml"
        path.write_text(path.read_text() + text)

    @property
    def environ(self) -> dict[str, str]:
        """The environment of the program."""
        return {**os.environ, "RADIAN_HOME": str(self.home), "HOME": str(self.home.parent)}

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run ``radian`` to its end."""
        return subprocess.run(
            [script("radian"), *words],
            cwd=self.workspace,
            env=self.environ,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start ``radian``; stdin stays open."""
        return subprocess.Popen(
            [script("radian"), *words],
            cwd=self.workspace,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def journal(self, session_id: str) -> list[dict[str, Any]]:
        """Return the records of a session."""
        path = self.home / "sessions" / f"{session_id}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]


def make_box(folder: Path) -> Box:
    """Make one."""
    box = Box(folder / "home" / ".radian", folder / "workspace")
    box.home.mkdir(parents=True)
    box.workspace.mkdir()
    box.home.joinpath("config.toml").write_text(CONFIG)
    box.trust()
    return box


def objects(stdout: str) -> list[dict[str, Any]]:
    """Return the objects of a JSON stream."""
    return [json.loads(line) for line in stdout.splitlines()]
