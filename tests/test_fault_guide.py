"""The guide to faults says what the code says."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from actors.fault_plan import INVARIANTS, KINDS
from runtimes.fault_file import read_plan
from runtimes.fault_points import all_points
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
PLANS = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize(("name", "about"), [*KINDS.items(), *INVARIANTS.items()])
def test_every_fault_and_every_invariant_is_in_its_table(name: str, about: str) -> None:
    assert f"| `{name}` | {about} |" in GUIDE


@pytest.mark.parametrize("text", PLANS)
def test_every_plan_in_it_can_work(text: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")

    assert read_plan(str(path), all_points()).faults


def test_the_scripted_provider_can_be_made_in_an_empty_home(tmp_path: Path) -> None:
    (lines,) = (each for each in BLOCKS if "[providers.play]" in each)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}

    subprocess.run(["sh", "-euc", lines], env=env, check=True, timeout=30)

    config = tomllib.loads((tmp_path / ".radian/config.toml").read_text(encoding="utf-8"))
    script = tmp_path / ".radian" / config["providers"]["play"]["script"]
    assert json.loads(script.read_bytes())["calls"][-1] == {"text": "Done."}


def test_every_example_plan_is_in_its_table() -> None:
    for path in (ROOT / "examples" / "faults").glob("*.toml"):
        assert f"| `{path.stem}` |" in GUIDE
