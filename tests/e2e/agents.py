"""The agents under test, each with prompts that do what a test needs."""

from __future__ import annotations

import atexit
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GRACE_S = 0.3
"""What aborted steps get between TERM and KILL in tests; long enough to be seen."""

CHANT_TOML = """\
[project]
name = "scratch"
environments = ["local"]
default_environment = "local"
"""

SH_OP = """\
name = "sh"
overview = "Runs one script"

[params.script]
type = "string"
required = true

[[phases]]
name = "Work"
  [[phases.steps]]
  id = "sh"
  fn = "shell"
  args = { cmd = { param = "script" } }
"""

UNDO_OP = """\
name = "undo"
overview = "Runs a script, then, and leaves a trace of its clean-up if that fails"

[params.script]
type = "string"
required = true

[[phases]]
name = "Work"
  [[phases.steps]]
  id = "work"
  fn = "shell"
  args = { cmd = { param = "script" } }
  [[phases.steps]]
  id = "never"
  fn = "shell"
  args = { cmd = "touch never" }

[[on_failure]]
name = "Undo"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = "echo undone > undone" }
"""


RADIAN_TOML = """\
default_provider = "play"

[providers.play]
kind = "scripted"
script = "turns.json"
"""

RADIAN_SCRIPT = '{"calls": [{"text": "ok"}], "then": "repeat-last"}'


@dataclass(frozen=True)
class AgentKind:
    """One agent program."""

    name: str
    command: tuple[str, ...]
    shell: Callable[[str], str]
    """Make the prompt that runs a shell script, whose output is shown."""
    prepare: Callable[[Path], None]
    quick: str
    """A prompt that ends by itself at once."""
    long: str
    """A prompt that may be followed by megabytes, and is answered with little."""
    wrong: str
    """A prompt that can't be carried out."""

    def with_grace(self) -> tuple[str, ...]:
        """Return the command with a short grace for steps that are stopped."""
        return (*self.command, "--grace", str(GRACE_S))


def _no_preparation(folder: Path) -> None:
    del folder


def _prepare_project(folder: Path) -> None:
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "init", "-q", str(folder)], check=True, env=quiet)
    (folder / "chant.toml").write_text(CHANT_TOML, encoding="utf-8")
    (folder / "ops").mkdir()
    for name, text in (("sh", SH_OP), ("undo", UNDO_OP)):
        (folder / "ops" / f"{name}.op.toml").write_text(text, encoding="utf-8")


def _radian_home() -> str:
    """Make a folder of radian's own for this test run: a model that plays a script, no user's."""
    home = tempfile.TemporaryDirectory(prefix="radian-home-")
    atexit.register(home.cleanup)
    for name, text in (("config.toml", RADIAN_TOML), ("turns.json", RADIAN_SCRIPT)):
        with open(f"{home.name}/{name}", "w", encoding="utf-8") as stream:
            stream.write(text)
    return home.name


def run_op(name: str, text: str) -> str:
    """Return chant's command line that runs the Op ``name`` on a script."""
    return f"run {name} --param script={shlex.quote(text)}"


ECHO = AgentKind(  # noqa: S604 - the word is ours
    name="echo",
    command=(sys.executable, str(ROOT / "tests" / "actors" / "echo_agent.py")),
    shell=lambda text: f"sh {text}",
    prepare=_no_preparation,
    quick="echo ok",
    long="count",
    wrong="fail",
)

CHANT = AgentKind(  # noqa: S604 - the word is ours
    name="chant",
    command=(script("chant"), "acp"),
    shell=lambda text: run_op("sh", text),
    prepare=_prepare_project,
    quick="list",
    long="run",
    wrong="rm -rf /",
)


RADIAN = AgentKind(  # noqa: S604 - the word is ours
    name="radian",
    command=("/usr/bin/env", f"RADIAN_HOME={_radian_home()}", script("radian"), "acp"),
    shell=lambda text: text,
    prepare=_no_preparation,
    quick="hello",
    long="hello",
    wrong="hello",
)
"""Its model answers every prompt with one word; what it can do has tests of its own."""

AGENTS = (ECHO, CHANT)
