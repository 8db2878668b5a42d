"""Projects on disk, made from text."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from ops.loading import load_catalog
from ops.project import find_project

if TYPE_CHECKING:
    from pathlib import Path

    from ops.loading import Catalog
    from ops.project import Project

RELEASE = """\
name = "release"
overview = "Build and ship"
labels = { team = "box" }
environments = ["local", "prod"]

[params.version]
type = "string"
required = true

[[phases]]
name = "Build"
  [[phases.steps]]
  id = "pack"
  fn = "shell"
  args = { cmd = 'make dist VERSION="$CHANT_PARAM_VERSION"' }
  outcome = { name = "artifact", from = "stdout" }
  [[phases.steps]]
  fn = "exec"
  args = { argv = ["python3", "-m", "pytest", "-q"], env = { CI = "true" } }
  timeout = "10m"

[[phases]]
name = "Deploy"
  [[phases.steps]]
  gate = "deploy-window"
  description = "Someone watches the dashboards"
  timeout = "48h"
  [[phases.steps]]
  fn = "copy"
  args = { src = { from = "pack", path = "stdout" }, dest = "/srv/box/" }
  [[phases.steps]]
  fn = "http_check"
  args = { url = "http://127.0.0.1:8099/health", status = 200, retries = 5, interval = "1s" }
  profile = "poll"

[[on_failure]]
name = "Rollback"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = "make rollback" }
"""
"""The file form as the specification shows it."""


def small_op(name: str, *, more: str = "", cmd: str = "true") -> str:
    return f"""\
name = "{name}"
{more}
[[phases]]
name = "Only"
[[phases.steps]]
fn = "shell"
args = {{ cmd = "{cmd}" }}
"""


def project(folder: Path, files: dict[str, str]) -> Project:
    files = {"chant.toml": '[project]\nname = "box"\nenvironments = ["local", "prod"]\n', **files}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return find_project(str(folder))


def catalog(folder: Path, files: dict[str, str]) -> Catalog:
    return load_catalog(project(folder, files))


def git(folder: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(folder), *args],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "file.txt").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder
