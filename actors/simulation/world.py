"""One simulated world: servers one after another, their clients, faults, and what outlives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.planned_faults import PlannedFaults
from actors.simulation.client import Reading, SimClient
from actors.simulation.faults import ScheduledFaults
from actors.simulation.platform import SimPlatform
from actors.simulation.seeds import stream
from actors.simulation.served import Pipes, Served

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.fault_plan import FaultPlan
    from actors.planned_faults import Fired
    from actors.runtime import Runtime
    from actors.simulation.book import Book
    from actors.simulation.scheduler import Scheduler

HEAL_S = 1_000.0
"""From this second of a world on nothing goes wrong any more, and everything must end."""

PATIENCE_S = 600.0
"""How long a client waits for an answer where the plan may lose it."""


class World:
    """What a scenario plays with.  Made and used inside of the world's first task."""

    def __init__(self, scheduler: Scheduler, seed: str, plan: FaultPlan) -> None:
        """Make a world without a server."""
        self.scheduler = scheduler
        self.seed = seed
        self.numbers = stream(seed, "world")
        self.platform = SimPlatform(scheduler, stream(seed, "entropy"))
        self.planned = PlannedFaults(plan, self.platform, self._fault_fired)
        self.faults = ScheduledFaults(scheduler, self.planned)
        self.servers: list[Served] = []
        """The last one serves now."""
        self.checks: list[Callable[[], None]] = []
        """What a scenario wants to have checked when all is over."""
        if plan.faults:
            self.platform.spawn("healer", self._heal_in_time)

    def serve(
        self, make_runtime: Callable[[Book], Runtime], pipes: Pipes, reading: Reading
    ) -> SimClient:
        """Start a server and return its client, which begins to read."""
        served = self.add(pipes)
        served.start(make_runtime(served.book))
        client = SimClient(self.platform, served.book, served.to_server, served.from_server)
        if "answers" in self.planned.plan.suspends:
            client.patience_s = PATIENCE_S
        client.start(reading)
        return client

    def add(self, pipes: Pipes) -> Served:
        """Return a process that is still to begin, and is the server from now on."""
        seed = f"{self.seed}/{len(self.servers)}"
        served = Served(self.platform, self.faults, seed, pipes)
        served.book.faults_fired = lambda: bool(self.planned.fired)
        served.messages_lost = lambda: any(each.fault == "drop" for each in self.planned.fired)
        self.servers.append(served)
        return served

    @property
    def server(self) -> Served:
        """The server that serves now."""
        return self.servers[-1]

    def _heal_in_time(self) -> None:
        self.platform.sleep(HEAL_S)
        self.planned.heal()

    def _fault_fired(self, fired: Fired) -> None:
        self.scheduler.trace.event(f"FAULT {fired}")
