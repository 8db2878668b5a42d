"""A project with a steward, a decision point and an Op that asks it; and a model that is played."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from tests.ops.questions import SHIP_IT
from tests.runtimes.chant.projects import make_project

if TYPE_CHECKING:
    from pathlib import Path

STEWARDS = """
[[steward]]
name = "box-steward"
environment = "prod"
ops = ["release"]
capabilities = ["inference"]
schedule = [{ op = "release", cron = "*/15 * * * *" }, { op = "plain", cron = "0 3 * * *" }]

[[steward]]
name = "plain-steward"
environment = "local"
"""

RELEASE = """\
name = "release"

[params.risk]
default = "medium"

[[phases]]
name = "Build"
  [[phases.steps]]
  id = "scan"
  fn = "shell"
  args = { cmd = 'echo "$CHANT_PARAM_RISK"' }
  [[phases.steps]]
  id = "ask"
  point = "ship-it"
  args = { risk = { from = "scan", path = "stdout" } }
  outcome = { name = "decision", from = "answer" }
  [[phases.steps]]
  id = "ship"
  fn = "shell"
  args = { cmd = 'echo "$CHANT_STEWARD" > shipped' }

[[on_failure]]
name = "Undo"
  [[on_failure.steps]]
  fn = "shell"
  args = { cmd = "touch undone" }
"""

PLAIN = """\
name = "plain"
[[phases]]
name = "Only"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "echo $CHANT_STEWARD $CHANT_CHANNEL > plain" }
"""

NESTED = """\
name = "nested"
[params.line]
required = true
[[phases]]
name = "Only"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = 'sh -c "$CHANT_PARAM_LINE" > out 2>&1' }
"""


def make_box(folder: Path) -> Path:
    """Make the project; its model's folder lies beside it."""
    box = make_project(folder, release=RELEASE, plain=PLAIN, nested=NESTED)
    config = box / "chant.toml"
    config.write_text(config.read_text() + STEWARDS)
    (box / "points").mkdir()
    (box / "points" / "ship-it.toml").write_text(SHIP_IT)
    return box


def make_model(folder: Path, *calls: dict[str, object]) -> dict[str, str]:
    """Make a provider that plays ``calls``; return the variable that leads to it."""
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        '[providers.local]\nkind = "scripted"\nscript = "turns.json"\n'
    )
    (folder / "turns.json").write_text(json.dumps({"calls": list(calls)}))
    return {"RADIAN_HOME": str(folder)}


def says(answer: str, confidence: float, **more: object) -> dict[str, object]:
    """Return one call in which the model decides."""
    said = {"answer": answer, "confidence": confidence, "reason": "so it seems"}
    return {"text": json.dumps(said), "chunk": 5, **more}


def tip(folder: Path) -> str:
    """Return the ledger's newest commit, empty when there is no ledger."""
    argv = ["git", "-C", str(folder), "rev-parse", "-q", "--verify", "refs/heads/chant/lifecycle"]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
