"""The agents under test, each with prompts that do what a test needs."""

from __future__ import annotations

import atexit
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.obedient_model import FLOOD, REFUSED, RUN, base_url
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

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
default_provider = "near"

[providers.near]
kind = "openai-compatible"
base_url = "{url}"
credential = "none"
default_model = "obedient"
"""


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
    flood: str
    """A prompt that shows more and more, for ever."""
    many_sessions: bool = True
    """Whether one process holds several of them, and takes them up with session/resume."""
    queues: bool = True
    """Whether a prompt waits while a turn runs; else it is refused."""
    shows_all: bool = True
    """Whether all that a script prints is shown, however much it is."""
    has_grace: bool = True
    """Whether a flag says how long steps have between TERM and KILL."""
    keeps_secrets: bool = False
    """Whether variables that look like secrets are kept from scripts."""
    blocks: frozenset[str] = frozenset()
    """What a prompt may hold beside text and links."""

    def with_grace(self) -> tuple[str, ...]:
        """Return the command with a short grace for steps that are stopped."""
        return (*self.command, "--grace", str(GRACE_S)) if self.has_grace else self.command

    @property
    def refuses_a_second(self) -> bool:
        """Whether a prompt is refused while a turn runs."""
        return not self.queues

    @property
    def reopen(self) -> str:
        """The method that takes up a session in a new process."""
        return "session/resume" if self.many_sessions else "session/load"


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
    """Make a folder of radian's own for this test run."""
    home = tempfile.TemporaryDirectory(prefix="radian-home-")
    atexit.register(home.cleanup)
    return home.name


RADIAN_HOME = _radian_home()


def _prepare_radian(folder: Path) -> None:
    """Have a model that runs the scripts it is given."""
    del folder
    config = Path(RADIAN_HOME, "config.toml")
    if not config.exists():
        config.write_text(RADIAN_TOML.replace("{url}", base_url()), encoding="utf-8")


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
    flood="sh exec yes",
)

CHANT = AgentKind(  # noqa: S604 - the word is ours
    name="chant",
    command=(script("chant"), "acp"),
    shell=lambda text: run_op("sh", text),
    prepare=_prepare_project,
    quick="list",
    long="run",
    wrong="rm -rf /",
    flood=run_op("sh", "exec yes"),
)


RADIAN = AgentKind(  # noqa: S604 - the word is ours
    name="radian",
    command=("/usr/bin/env", f"RADIAN_HOME={RADIAN_HOME}", script("radian"), "acp",
             "--profile", "full", "--trust"),
    shell=lambda text: RUN + text,
    prepare=_prepare_radian,
    quick="hello",
    long="hello",
    wrong=REFUSED,
    flood=FLOOD,
    many_sessions=False,
    queues=False,
    shows_all=False,
    has_grace=False,
    keeps_secrets=True,
    blocks=frozenset({"image", "resource"}),
)  # fmt: skip
"""Its model does what it is told; what else it can do has tests of its own."""

AGENTS = (ECHO, CHANT, RADIAN)
