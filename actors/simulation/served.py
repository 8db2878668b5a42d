"""One simulated server process: what it stands on, and how it ends or is ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.base import System
from actors.clock import Timers
from actors.serve import INTERNAL_FAULT, Ground, Note, Server
from actors.simulation.book import Book
from actors.simulation.gate import WatchedGate
from actors.simulation.notes import SimNotes
from actors.simulation.pipe import SimPipe
from actors.simulation.seeds import stream
from actors.simulation.steps import SimSteps
from actors.simulation.telemetry import SimTelemetry
from actors.simulation.wire import SimSink, SimSource
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.faults import Faults
    from actors.runtime import Runtime
    from actors.simulation.platform import SimPlatform

SURVIVORS = ("main", "client", "server", "healer", "program", "child", "pump")
"""How names of tasks begin that must end whatever becomes of a server."""

PATIENCE_S = 100.0
"""Longer than any scenario's steps, cancels and clean-up take to end."""


class Pipes(NamedTuple):
    """Capacities of both directions, in bytes."""

    to_server: int = 65_536
    from_server: int = 65_536


class Served:
    """A server and its connection."""

    def __init__(self, platform: SimPlatform, faults: Faults, seed: str, pipes: Pipes) -> None:
        """Lay the ground; `start` serves."""
        self._platform = platform
        self._faults = faults
        self._seed = seed
        self._scheduler = platform.scheduler
        self.to_server = SimPipe(platform, pipes.to_server)
        self.from_server = SimPipe(platform, pipes.from_server)
        self.book = Book(platform.scheduler)
        self.telemetry = SimTelemetry(platform.scheduler, self.book)
        self.steps = SimSteps(platform, faults, self.book)
        self._timers = Timers(platform)
        self.notes = SimNotes(platform)
        self.code: int | None = None
        """The exit code, once it has ended by itself."""
        self.killed = False
        self.messages_lost: Callable[[], bool] = _never
        """Whether a fault has lost any: who waits for one is ended by the exit."""
        self._signals = 0
        self.after: Callable[[], None] = _nothing
        """Done once the server has ended in order, as its process's last act."""
        self._apart: list[SimSteps] = []

    @property
    def hurried(self) -> bool:
        """Whether a second signal took its time away."""
        return self._signals > 1

    def start(self, runtime: Runtime) -> None:
        """Serve on a process of its own."""
        ground = Ground(
            System(self._platform, self.telemetry, self._faults, self._timers),
            SimSource(self.to_server, self._faults, stream(self._seed, "source")),
            SimSink(self.from_server, self._faults, stream(self._seed, "sink"), self.book),
            self.notes,
            lambda: self.steps,
            WatchedGate(self._platform, self._faults, self.book),
            _nothing,
        )
        server = Server(runtime, ground)

        def run() -> int:
            code = server.run()
            try:
                self.after()
            except Exception:
                if not self.book.faults_fired():
                    raise
                return INTERNAL_FAULT
            return code

        self.begin(run)

    def steps_apart(self) -> SimSteps:
        """Return steps that are not the server's, but whose programs end with its process."""
        self._apart.append(SimSteps(self._platform, self._faults, self.book))
        return self._apart[-1]

    def begin(self, run: Callable[[], int]) -> None:
        """Do what ``run`` does on a process of its own; it returns the exit code."""
        self._process = self._scheduler.spawn_process("server", lambda: self._run(run))

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.book.end()
        self._signals += 1
        self._scheduler.trace.event(f"signal {number}")
        self.notes.put(Note("signal", 128 + number))

    def kill(self) -> None:
        """End it as SIGKILL does; the guardian then ends what it has started."""
        self.book.end()
        self.killed = True
        self._scheduler.trace.event("the server is killed")
        self._scheduler.kill(self._process)
        self._close_ends()
        for steps in (self.steps, *self._apart):
            steps.sweep()

    def join(self) -> None:
        """Wait until it has ended."""
        self._process.join()

    def judge(self, codes: tuple[int, ...]) -> None:
        """Check what can be told only when all is over; ``codes`` are right exit codes."""
        self.book.close()
        if not self.killed and self.code not in codes:
            self.book.violated("exit", f"the server ended with {self.code}, not one of {codes}")
        if self.steps.hasty and not self.hurried and self.code != INTERNAL_FAULT:
            self.book.violated("time", f"killed without grace: {', '.join(self.steps.hasty)}")
        if alive := [step for steps in (self.steps, *self._apart) for step in steps.alive]:
            self.book.violated("children", f"alive at the end: {', '.join(alive)}")

    def _run(self, run: Callable[[], int]) -> None:
        self.code = run()
        self._check_pace()
        if self.code == INTERNAL_FAULT:
            self.book.end()
        if self.code == INTERNAL_FAULT or self.hurried or self.messages_lost():
            self._abandon()
        self._scheduler.trace.event(f"the server ends with {self.code}")
        self._close_ends()
        self._timers.close()

    def _check_pace(self) -> None:
        """An end in order takes as long as what runs needs to stop, and no limit is used up."""
        asked_at, now = self.book.ended_at, self._scheduler.now
        if asked_at is not None and now - asked_at > PATIENCE_S and not self.book.faults_fired():
            self.book.violated("ends", f"it took {now - asked_at:.0f} s to end in order")

    def _close_ends(self) -> None:
        """Do what a process's exit does."""
        self.to_server.close_reader()
        self.from_server.close_writer()

    def _abandon(self) -> None:
        """Let go of what a server leaves that fell over or was hurried: its exit ends that."""
        for task in self._scheduler.tasks:
            task.daemon = not task.name.startswith(SURVIVORS)


def _never() -> bool:
    return False


def _nothing() -> None:
    """Import nothing: the simulation has all it needs."""
