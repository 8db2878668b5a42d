"""A fault plan on a real server: for people who test their clients against a broken agent.

Loud: the plan and every fault that fires are told on stderr, whatever the log level.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actors.faulty_platform import FaultyPlatform
from actors.gate import Gate
from actors.logs import say
from actors.planned_faults import PlannedFaults
from actors.real_platform import RealPlatform

if TYPE_CHECKING:
    from actors.fault_plan import FaultPlan
    from actors.planned_faults import Fired

FLUSH_LIMIT_S = 5.0
"""How long a planned exit waits for a client that does not read what was said before."""


class Sabotage:
    """What `actors.serve.serve` uses in place of the real thing."""

    def __init__(self, plan: FaultPlan) -> None:
        """Have the faults of ``plan`` happen; says so at once."""
        self._real = RealPlatform()
        self.faults = PlannedFaults(plan, self._real, _tell, self._leave)
        self.platform = FaultyPlatform(self._real, self.faults)
        self.gate = _ReleasingGate(self.platform, self.faults)
        about = f": {plan.about}" if plan.about else ""
        say(f"FAULTS ON PURPOSE by plan {plan.name!r} (seed {plan.seed}){about}")

    def _leave(self, code: int, flushed: bool) -> None:  # noqa: FBT001 - as `Leave` says
        if flushed:
            self.gate.wait_empty(FLUSH_LIMIT_S, self._real)
        os._exit(code)


class _ReleasingGate(Gate):
    """The end of a connection closes its gate first of all: nobody may stall from then on."""

    def __init__(self, platform: FaultyPlatform, faults: PlannedFaults) -> None:
        super().__init__(platform, faults)
        self._planned = faults

    def close(self) -> int:
        self._planned.release()
        return super().close()


def _tell(fired: Fired) -> None:
    say(f"fault {fired.entry} fired: {fired}")
