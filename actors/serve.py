"""Serving a runtime on stdin and stdout: start, wait for the end, end in order.

End of input, SIGTERM, SIGHUP, SIGINT and a client that left take one path: the gate closes (waiting
producers stop waiting, unwritten messages are abandoned), turns are cancelled and clean up, and the
process exits; 0 for an end of input or a client that left, 128+n for a signal.
"""

from __future__ import annotations

import gc
import queue
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from pykka import ActorDeadError

from actors import signals
from actors.base import System, start
from actors.clock import Timers
from actors.faults import NoFaults
from actors.gate import Gate
from actors.logs import carry_stdlib, say
from actors.memory import give_memory_back
from actors.messages import EndTurns, Stop
from actors.notes import SignalNotes
from actors.real_platform import RealPlatform
from actors.server_tree import Milestones, ServerTree
from actors.stdio import Sink, Source, hold_stdio, take_stdio
from actors.telemetry import LoggedTelemetry
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.faults import Faults
    from actors.platform import Platform
    from actors.runtime import Runtime
    from actors.sabotage import Sabotage
    from actors.wire import ByteSink, ByteSource
    from actors.work import StepService

SHUTDOWN_LIMIT_S = 330.0
"""Longest time that turns get to clean up; what is left is then killed with us."""
HARD_LIMIT_S = 3.0
"""The same after a second signal."""
LAST_ANSWERS_S = 5.0
"""What requests of no turn get to be answered after the end of input: `printf ... | chant acp` is
the first thing that a person tries, and a busy machine may take a while to open a session."""
LAST_ROOM_S = 0.1
"""The same where an answer is ready and can't leave, since the client does not read."""
LAST_BYTES_S = 0.05
"""What those answers then get to leave.  A client that does not read gets nothing, as the seed
says, and both together end well within the 200 ms that an end may take beside the grace."""
STOP_LIMIT_S = 1.0
"""How long the actors get to stop once all turns are over."""
INTERNAL_FAULT = 70
"""Exit code when the actor tree itself failed (EX_SOFTWARE of sysexits.h)."""
ANSWER_LEAVES_S = 1.0
"""What an answer gets to be written before something is prepared beside it."""
SWITCH_INTERVAL_S = 0.001
"""A busy Python thread keeps others waiting for this long at the most (default 5 ms)."""


class Note(NamedTuple):
    """Why the main thread should look up."""

    kind: str
    code: int = 0


class Notes(Protocol):
    """What the main thread waits for, as `queue.SimpleQueue` has it."""

    def put(self, note: Note, /) -> None:
        """Leave a note.  Never waits; safe in a signal handler."""
        ...

    def get(self, block: bool = ..., timeout: float | None = ...) -> Note:  # noqa: FBT001 - the queue's own signature
        """Wait for the next note.

        Raises:
            queue.Empty: None came within ``timeout`` seconds.

        """
        ...


class Ground(NamedTuple):
    """What a server stands on: a process's own, or a simulated one."""

    system: System
    source: ByteSource
    sink: ByteSink
    notes: Notes
    make_steps: Callable[[], StepService]
    """Called once, when the first turn starts."""
    gate: Gate
    warm_up: Callable[[], None]
    """Called once on a leaf thread, when the client has its first session."""


class Server:
    """One connection from its first byte to its exit code.  The main thread lives here."""

    def __init__(
        self, runtime: Runtime, ground: Ground, get_ready: Callable[[], None] | None = None
    ) -> None:
        """Serve ``runtime``; nothing runs before `run`.

        ``get_ready`` imports what opening a session needs.  Called on a leaf thread when the
        client has the answer of `initialize`; a request that is faster does the same itself.
        """
        self._runtime = runtime
        self._ground = ground
        self._system = ground.system
        self._notes = ground.notes
        self._steps: StepService | None = None
        self._get_ready = get_ready
        self._warm = False
        self._tree = ServerTree(
            ground.system,
            runtime=runtime,
            source=ground.source,
            sink=ground.sink,
            steps=self._make_steps,
            gate=ground.gate,
            milestones=Milestones(
                self._initialized,
                self._session_opened,
                lambda: self._notes.put(Note("end of input")),
                self._client_gone,
                lambda: self._notes.put(Note("all over")),
            ),
        )

    def _client_gone(self, why: str) -> None:
        self._system.telemetry.event("client_gone", "writer", why=why)
        self._notes.put(Note("client gone"))

    def run(self) -> int:
        """Serve until something ends the connection; return the exit code."""
        try:
            root = start(self._tree.make_root, lambda _reason: self._notes.put(Note("root down")))
        except RuntimeError as error:  # the system has no more threads for us
            say(f"can't serve: {error}")
            return INTERNAL_FAULT
        self._tree.root.bind(root)
        note = self._notes.get()
        while note.kind == "all over":
            note = self._notes.get()
        if note.kind == "end of input":
            self._let_answers_leave()
        self._tree.gate.close()
        fell = note.kind == "root down" or self._end_turns() == "root down"
        if not fell:
            with suppress(ActorDeadError):
                root.tell(Stop())
            self._await({"root down"}, STOP_LIMIT_S)
        if self._steps is not None:
            self._steps.close()
        return INTERNAL_FAULT if fell else note.code

    def _let_answers_leave(self) -> None:
        """Give what was asked before the end of input its answer, if the client reads at all."""
        platform = self._system.platform
        self._tree.connection.wait_answered(LAST_ANSWERS_S, LAST_ROOM_S, platform)
        self._tree.gate.wait_empty(LAST_BYTES_S, platform)

    def _initialized(self) -> None:
        """Use the time in which the client thinks about its first session."""
        get_ready, self._get_ready = self._get_ready, None
        if get_ready is not None:
            self._system.platform.spawn("get ready", lambda: self._once_it_left(get_ready))

    def _session_opened(self) -> None:
        """Get ready for a prompt once the client has its session: not before, it would wait."""
        if not self._warm:
            self._warm = True
            self._system.platform.spawn("warm up", lambda: self._once_it_left(self._warm_up))

    def _once_it_left(self, prepare: Callable[[], None]) -> None:
        """Prepare when the answer that the client waits for is written: imports hold it up."""
        self._tree.gate.wait_empty(ANSWER_LEAVES_S, self._system.platform)
        prepare()

    def _warm_up(self) -> None:
        try:
            self._runtime.warm_up()
        finally:  # a disk that can't be read now says so again, where it is heard
            self._ground.warm_up()

    def _end_turns(self) -> str | None:
        """Cancel what runs and give it time to clean up; a second signal takes that time away.

        Returns the kind of the note that ended that; None: the time was over.
        """
        self._tree.router.tell(EndTurns())
        seen = self._await({"all over", "root down", "signal"}, SHUTDOWN_LIMIT_S)
        if seen == "signal":
            self._tree.router.tell(EndTurns(hard=True))
            seen = self._await({"all over", "root down"}, HARD_LIMIT_S)
        return seen

    def _await(self, kinds: set[str], limit_s: float) -> str | None:
        """Wait for a note of one of ``kinds``, at most ``limit_s`` seconds; None: none came."""
        until = self._system.platform.monotonic() + limit_s
        while (left_s := until - self._system.platform.monotonic()) > 0:
            try:
                note = self._notes.get(timeout=left_s)
            except queue.Empty:
                return None
            if note.kind in kinds:
                return note.kind
        return None

    def _make_steps(self) -> StepService:
        steps = self._steps = self._ground.make_steps()
        return steps


def serve(
    runtime: Runtime,
    faults: Faults | None = None,
    sabotage: Sabotage | None = None,
    get_ready: Callable[[], None] | None = None,
    *,
    steps_follow: bool = True,
) -> int:
    """Serve ``runtime`` on stdin and stdout until the connection ends; return the exit code.

    ``sabotage`` stands in for platform, faults and gate; ``get_ready``: see `Server`.
    ``steps_follow``: each turn starts steps, so that the first one gets ready for them at once.
    """
    ground = process_ground(faults, sabotage, steps_follow=steps_follow)
    return Server(runtime, ground, get_ready).run()


def process_ground(
    faults: Faults | None = None, sabotage: Sabotage | None = None, *, steps_follow: bool = True
) -> Ground:
    """Take over this process's stdin, stdout and signals: what `serve` stands on."""
    hold_stdio()
    notes: SignalNotes[Note] = SignalNotes()
    signals.note(lambda number: notes.put(Note("signal", 128 + number)))
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    give_memory_back()
    if sabotage is None:
        platform: Platform = RealPlatform()
        faults = faults or NoFaults()
        gate = Gate(platform, faults)
    else:
        platform, faults, gate = sabotage.platform, sabotage.faults, sabotage.gate
    system = System(platform, LoggedTelemetry(), faults, Timers(platform))
    wire_in, wire_out = take_stdio()
    return Ground(
        system,
        Source(wire_in, faults),
        Sink(wire_out, faults),
        notes,
        lambda: _real_steps(system, warm=steps_follow),
        gate,
        _settle_down,
    )


def _real_steps(system: System, *, warm: bool) -> StepService:
    from actors.steps import RealSteps

    steps = RealSteps(system.platform, system.faults)
    if warm:
        # Beside the turn's own preparations: its first step then starts like any other.
        system.platform.spawn("warm up steps", steps.warm_up)
    return steps


def _settle_down() -> None:
    """Now that all is imported: it lives as long as we do, and the collector may pass it over."""
    try:
        carry_stdlib()
    finally:
        gc.freeze()
        gc.enable()
