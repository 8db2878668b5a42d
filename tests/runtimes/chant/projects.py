"""Small real projects on disk: a git repository, chant.toml and a few Ops."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CHANT_TOML = """\
[project]
name = "box"
environments = ["local", "prod"]
default_environment = "local"
"""

RELEASE = """\
name = "release"
overview = "Build and deploy"

[params.version]
type = "string"
default = "1"

[[phases]]
name = "Build"
  [[phases.steps]]
  id = "pack"
  fn = "shell"
  args = { cmd = 'echo "packed $CHANT_PARAM_VERSION in $CHANT_ENV"' }
"""

FAILING = """\
name = "failing"

[[phases]]
name = "Work"
  [[phases.steps]]
  id = "boom"
  fn = "shell"
  args = { cmd = 'echo before; exit 3' }
  [[phases.steps]]
  id = "later"
  fn = "shell"
  args = { cmd = 'echo never' }

[[on_failure]]
name = "Rollback"
  [[on_failure.steps]]
  id = "undo"
  fn = "shell"
  args = { cmd = 'echo "undo after $CHANT_FAILURE_STEP"' }
"""

BROKEN = 'name = "broken\n'


def make_project(folder: Path, *, git: bool = True, **ops: str) -> Path:
    """Write a project with the given Ops (file stem to text) and return its folder."""
    (folder / "ops").mkdir(parents=True)
    (folder / "chant.toml").write_text(CHANT_TOML)
    for stem, text in ops.items():
        (folder / "ops" / f"{stem}.op.toml").write_text(text)
    if git:
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def ledger_lines(folder: Path, env: str, op: str) -> list[str]:
    """Return the runs of an Op as the ledger branch has them."""
    where = f"chant/lifecycle:{env}/runs/{op}.jsonl"
    shown = subprocess.run(
        ["git", "-C", str(folder), "show", where], capture_output=True, text=True, check=False
    )
    return shown.stdout.splitlines()


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below ``folder`` with its content: to see that nothing changed."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
