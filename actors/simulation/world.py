"""One simulated world: a server, its client, and everything between and below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from actors.base import System
from actors.clock import Timers
from actors.planned_faults import PlannedFaults
from actors.serve import INTERNAL_FAULT, Ground, Note, Server
from actors.simulation.book import Book
from actors.simulation.client import Reading, SimClient
from actors.simulation.faults import ScheduledFaults
from actors.simulation.gate import WatchedGate
from actors.simulation.notes import SimNotes
from actors.simulation.pipe import SimPipe
from actors.simulation.platform import SimPlatform
from actors.simulation.seeds import stream
from actors.simulation.steps import SimSteps
from actors.simulation.telemetry import SimTelemetry
from actors.simulation.wire import SimSink, SimSource

if TYPE_CHECKING:
    from actors.fault_plan import FaultPlan
    from actors.planned_faults import Fired
    from actors.runtime import Runtime
    from actors.simulation.scheduler import Scheduler

HEAL_S = 1_000.0
"""From this second of a world on nothing goes wrong any more, and everything must end."""

OURS = ("main", "client", "server", "healer", "program", "child", "pump")
"""Names of tasks that must end whatever becomes of the server."""


class Pipes(NamedTuple):
    """Capacities of both directions, in bytes."""

    to_server: int = 65_536
    from_server: int = 65_536


class World:
    """What a scenario plays with.  Made and used inside of the world's first task."""

    def __init__(self, scheduler: Scheduler, seed: str, plan: FaultPlan) -> None:
        """Make a world without a server."""
        self.scheduler = scheduler
        self.seed = seed
        self.numbers = stream(seed, "world")
        self.platform = SimPlatform(scheduler, stream(seed, "entropy"))
        self.book = Book(scheduler)
        self.telemetry = SimTelemetry(scheduler, self.book)
        self.planned = PlannedFaults(plan, self.platform, self._fault_fired)
        self.faults = ScheduledFaults(scheduler, self.planned)
        self.timers = Timers(self.platform)
        self.system = System(self.platform, self.telemetry, self.faults, self.timers)
        self.steps = SimSteps(self.platform, self.faults, self.book)
        self.notes = SimNotes(self.platform)
        self.code: int | None = None
        """The server's exit code, once it has ended."""
        self._healed = False

    def serve(self, runtime: Runtime, pipes: Pipes, reading: Reading) -> SimClient:
        """Start a server and return its client, which begins to read."""
        to_server = SimPipe(self.platform, pipes.to_server)
        from_server = SimPipe(self.platform, pipes.from_server)
        ground = Ground(
            self.system,
            SimSource(to_server, self.faults, stream(self.seed, "source")),
            SimSink(from_server, self.faults, stream(self.seed, "sink"), self.book),
            self.notes,
            lambda: self.steps,
            WatchedGate(self.platform, self.faults, self.book),
            _nothing,
        )
        server = Server(runtime, ground)
        self.platform.spawn("server", lambda: self._run(server, to_server, from_server))
        if self.planned.plan.faults:
            self.platform.spawn("healer", self._heal_in_time)
        client = SimClient(self.platform, self.book, to_server, from_server)
        client.start(reading)
        return client

    def signal(self, number: int) -> None:
        """Send the server a signal."""
        self.book.input_ended = True
        self.scheduler.trace.event(f"signal {number}")
        self.notes.put(Note("signal", 128 + number))

    def _run(self, server: Server, to_server: SimPipe, from_server: SimPipe) -> None:
        self.code = server.run()
        if self.code == INTERNAL_FAULT:
            self.book.input_ended = True
            self._abandon()
        self.scheduler.trace.event(f"the server ends with {self.code}")
        # What a process's exit does:
        to_server.close_reader()
        from_server.close_writer()
        self.timers.close()
        self._heal()

    def _abandon(self) -> None:
        """Let go of what a server leaves that fell over: only the process's exit ends it."""
        for task in self.scheduler.tasks:
            task.daemon = not task.name.startswith(OURS)

    def _heal_in_time(self) -> None:
        self.platform.sleep(HEAL_S)
        self._heal()

    def _heal(self) -> None:
        if not self._healed:
            self._healed = True
            self.planned.heal()

    def _fault_fired(self, fired: Fired) -> None:
        self.scheduler.trace.event(f"FAULT {fired}")


def _nothing() -> None:
    """Import nothing: the simulation has all it needs."""
