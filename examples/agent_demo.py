"""``make demo``, second part: ``radian exec`` mends a project with a model that plays a script.

The model's words are in ``examples/agent/turns.json``; the tools, the files and the tests that run
are real.  The demo fails if the project is not mended afterwards, or if the session does not tell
what happened.  All of it is in a scratch folder that is gone afterwards.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import NoReturn

AGENT = Path(__file__).resolve().parent / "agent"
TASK = "The tests fail. Find out why and mend it."
SESSION = "demo"


def fail(message: str) -> NoReturn:
    """End the demo: what it shows is not true."""
    sys.exit(f"agent demo: {message}")


def radian(scratch: Path, *words: str) -> str:
    """Run ``radian exec`` in the project, show it, and return what it printed."""
    print(f"\n$ {shlex.join(('radian', 'exec', *words))}", flush=True)
    program = os.path.join(sysconfig.get_path("scripts"), "radian")
    environ = {**os.environ, "RADIAN_HOME": str(scratch / "home")}
    run = subprocess.run(
        [program, "exec", *words],
        cwd=scratch / "project",
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(run.stdout, end="", flush=True)
    if run.returncode != 0:
        fail(f"exit code {run.returncode}")
    return run.stdout


def tests_pass(scratch: Path) -> bool:
    """Run the project's tests ourselves."""
    run = subprocess.run(
        [sys.executable, "-B", "test_prices.py"],
        cwd=scratch / "project",
        capture_output=True,
        check=False,
    )
    return run.returncode == 0


def main() -> None:
    """Show the task, the list, the transcript and a second turn, and check each."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shutil.copytree(AGENT / "project", scratch / "project")
        (scratch / "home").mkdir()
        for name in ("config.toml", "turns.json"):
            shutil.copy(AGENT / name, scratch / "home" / name)
        if tests_pass(scratch):
            fail("the project is not broken")
        print("--- an agent mends a project: a scripted model, real tools")
        # --yes: where there is no sandbox, somebody has to agree to the commands.
        radian(scratch, "-p", TASK, "--session-id", SESSION, "--yes", "--no-trust")
        if not tests_pass(scratch):
            fail("the tests still fail")
        if SESSION not in radian(scratch, "--list"):
            fail("the session is not listed")
        transcript = radian(scratch, "--export", SESSION)
        if "prices.py" not in transcript or TASK not in transcript:
            fail("the transcript does not tell what happened")
        shutil.copy(AGENT / "more.json", scratch / "home" / "turns.json")
        more = ("--resume", SESSION, "--output", "json", "--no-trust")
        result = json.loads(radian(scratch, "-p", "And which file was it?", *more))
        if (result["turn"], result["status"]) != (2, "completed"):
            fail("the session did not go on")
        print("\nagent demo: the project is mended, and the session tells how.")


if __name__ == "__main__":
    main()
