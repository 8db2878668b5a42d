"""A real agent that breaks as a fault plan says, for tests of clients."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from typing import IO, TYPE_CHECKING, cast

from actors.fault_plan import FaultPlan, checked
from actors.planned_faults import Fired, pinned
from runtimes.fault_file import plan_text, read_plan
from runtimes.fault_points import all_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.faults import FaultKind

END_LIMIT_S = 5.0
"""What an agent gets to end once its input has ended."""

_FIRED = re.compile(r": fault (\d+) fired: (\w+) at (\S+?)(?: \((.*)\))?, hit (\d+)$", re.MULTILINE)


class BrokenAgent:
    """``argv`` for a client that starts its agent itself, or `start` for one that does not."""

    def __init__(
        self, plan: FaultPlan | str | None, folder: str, command: Sequence[str] | None = None
    ) -> None:
        """Prepare an agent; nothing runs before `start`.

        Args:
            plan: A plan, the path of one, or None for an agent that works.
            folder: For the plan's file and the agent's stderr.
            command: Starts a server that knows ``--faults``; ``chant acp`` when absent.

        Raises:
            PlanInvalid: The plan can't work; the message says why.

        """
        self.plan = _plan(plan)
        self.argv = [*(command or (_chant(), "acp"))]
        self._stderr = os.path.join(folder, "agent.stderr")
        self._started: list[subprocess.Popen[bytes]] = []
        if self.plan is not None:
            path = os.path.join(folder, f"{self.plan.name}.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(plan_text(self.plan))
            self.argv += ["--faults", path]

    def start(self) -> subprocess.Popen[bytes]:
        """Start the agent with pipes as its stdin and stdout."""
        with open(self._stderr, "ab") as stderr:
            process = subprocess.Popen(
                self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
            )
        self._started.append(process)
        return process

    def stderr(self) -> str:
        """Return what agents that `start` started have written to stderr so far."""
        try:
            with open(self._stderr, encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def fired(self, stderr: str | None = None) -> list[Fired]:
        """Return the faults that have fired, as an agent's stderr tells them."""
        found = _FIRED.findall(self.stderr() if stderr is None else stderr)
        return [
            Fired(point, who, int(hit), cast("FaultKind", kind), int(entry))
            for entry, kind, point, who, hit in found
        ]

    def pinned(self) -> str:
        """Return the file of a plan that repeats exactly what has fired, whatever its seed."""
        plan = self.plan or FaultPlan(faults=())
        return plan_text(pinned(plan, self.fired()))

    def close(self) -> None:
        """End every agent that `start` started."""
        for process in self._started:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        _close(pipe)
    try:
        process.wait(END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(END_LIMIT_S)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        try:
            pipe.close()
        except BrokenPipeError:
            return  # it had died, and something for it was still in the buffer


def _plan(plan: FaultPlan | str | None) -> FaultPlan | None:
    if plan is None:
        return None
    points = all_points()
    return checked(plan, points) if isinstance(plan, FaultPlan) else read_plan(plan, points)


def _chant() -> str:
    """Return the console script beside the Python that runs the tests; needs no PATH."""
    return os.path.join(sysconfig.get_path("scripts"), "chant")
