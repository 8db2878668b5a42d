"""The agent's part of ``make demo`` is true."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "examples" / "agent_demo.py"


def test_the_agent_demo_shows_what_it_says() -> None:
    run = subprocess.run([sys.executable, str(DEMO)], capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.endswith("the session tells how.\n")
