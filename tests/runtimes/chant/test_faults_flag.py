"""``chant acp --faults``: never by accident, never silent, not for stewards."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PLAN = str(ROOT / "examples" / "faults" / "no-answer.toml")


def acp(*words: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script("chant"), "acp", *words],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
        timeout=60,
    )


def test_a_plan_is_told_on_stderr_at_once() -> None:
    run = acp("--faults", PLAN)

    assert run.returncode == 0
    assert run.stdout == ""
    assert run.stderr == (
        "chant: FAULTS ON PURPOSE by plan 'no-answer' (seed 0):"
        " the answer to session/prompt never comes\n"
    )


def test_without_the_flag_nothing_is_said() -> None:
    assert acp().stderr == ""


def test_a_plan_with_mistakes_serves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('[[fault]]\npoint = "gate.put"\nfault = "drop"\n', encoding="utf-8")

    run = acp("--faults", str(path))

    assert run.returncode == 2
    assert run.stderr == (
        f"chant acp: {path}:3: fault 1: gate.put can't drop; it can crash, delay, stall, exit\n"
    )


def test_a_steward_gets_no_broken_server_unless_it_is_allowed(tmp_path: Path) -> None:
    declared = '[project]\nname = "p"\n[[steward]]\nname = "night"\nops = []\n'
    (tmp_path / "chant.toml").write_text(declared, encoding="utf-8")

    refused = acp("--faults", PLAN, CHANT_STEWARD="night")
    by_flag = acp("--faults", PLAN, "--steward", "night", cwd=tmp_path)
    allowed = acp("--faults", PLAN, "--allow-faults", CHANT_STEWARD="night")

    assert refused.returncode == 2
    assert refused.stderr == (
        "chant acp: --faults would break what steward 'night' does; --allow-faults permits it\n"
    )
    assert (by_flag.returncode, by_flag.stderr) == (2, refused.stderr)
    assert allowed.returncode == 0
    assert "FAULTS ON PURPOSE" in allowed.stderr
