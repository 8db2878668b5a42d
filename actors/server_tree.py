"""The tree of a served connection: who supervises whom, in starting order.

root (one_for_all, no restart)
    output (one_for_one): gate, writer, responder; what they share lives in the `Gate`, and a
        responder that waits for room could not be stopped before the writer is back
    sessions (one_for_one): a supervisor for each session, see `actors.session_tree`
    input (one_for_one): router, reader
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.address import Address
from actors.backpressure import BackpressureActor
from actors.connection import Connection
from actors.reader import ReaderActor, ReaderState
from actors.responder import ResponderActor
from actors.router import RouterActor, RouterState
from actors.supervisor import ChildSpec, Supervisor
from actors.switchboard import Switchboard
from actors.writer import WriterActor
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.backpressure import BackpressureMessage
    from actors.base import System
    from actors.gate import Gate
    from actors.messages import BatchReady, ReadMore, ResponderMessage, RouterMessage
    from actors.runtime import Runtime
    from actors.session_tree import SessionTree
    from actors.strategies import Strategy
    from actors.supervisor import SupervisorMessage
    from actors.wire import ByteSink, ByteSource
    from actors.work import StepService

RESTARTS = (3, 60.0)
"""How often the parts of a connection may be started again, within seconds."""


class Milestones(NamedTuple):
    """Whom to tell how far the connection is.  Called from any thread; must not wait."""

    initialized: Callable[[], None]
    session_opened: Callable[[], None]
    input_ended: Callable[[], None]
    client_gone: Callable[[str], None]
    all_over: Callable[[], None]


class ServerTree:
    """Addresses and shared parts of one connection, and the root that starts it all."""

    def __init__(
        self,
        system: System,
        *,
        runtime: Runtime,
        source: ByteSource,
        sink: ByteSink,
        steps: Callable[[], StepService],
        gate: Gate,
        milestones: Milestones,
    ) -> None:
        """Compose; nothing runs before the root is started."""
        self._system = system
        self._steps = steps
        self._tree: SessionTree | None = None
        self.gate = gate
        responder: Address[ResponderMessage] = self._address("responder")
        self.connection = Connection(system.platform, self.gate, responder)
        self.router: Address[RouterMessage] = self._address("router")
        self._sessions: Address[SupervisorMessage] = self._address("sessions")
        self.root: Address[SupervisorMessage] = self._address("root")
        self._specs = (
            self._output(sink, responder, milestones),
            self._supervisor(self._sessions, (), "one_for_one"),
            self._input(source, runtime, milestones),
        )

    def make_root(self) -> Supervisor:
        """Make the root supervisor; its end is the server's end."""
        return Supervisor(self._system, self.root, self._specs, "one_for_all", (0, 1.0))

    def sessions(self) -> SessionTree:
        """Return the maker of session actors, loaded with the first turn.  Router's thread only."""
        if self._tree is None:
            from actors.session_tree import SessionTree

            self._tree = SessionTree(self._system, self._sessions, self._steps())
        return self._tree

    def _output(
        self, sink: ByteSink, responder: Address[ResponderMessage], milestones: Milestones
    ) -> ChildSpec:
        gate: Address[BackpressureMessage] = self._address("gate")
        writer: Address[BatchReady] = self._address("writer")
        specs = (
            ChildSpec(gate, lambda: BackpressureActor(self._system, gate, self.gate)),
            ChildSpec(
                writer,
                lambda: WriterActor(self._system, writer, self.gate, sink, milestones.client_gone),
            ),
            ChildSpec(responder, lambda: ResponderActor(self._system, responder, self.connection)),
        )
        return self._supervisor(self._address("output"), specs, "one_for_one")

    def _input(self, source: ByteSource, runtime: Runtime, milestones: Milestones) -> ChildSpec:
        reader: Address[ReadMore] = self._address("reader")
        reader_state = ReaderState()
        switchboard = Switchboard(runtime.turn_rule, runtime.methods, self.connection.owes)
        router_state = RouterState(switchboard)

        def make_router() -> RouterActor:
            return RouterActor(
                self._system,
                self.router,
                state=router_state,
                connection=self.connection,
                runtime=runtime,
                sessions=self.sessions,
                initialized=milestones.initialized,
                session_opened=milestones.session_opened,
                all_over=milestones.all_over,
            )

        def make_reader() -> ReaderActor:
            return ReaderActor(
                self._system,
                reader,
                source=source,
                state=reader_state,
                connection=self.connection,
                router=self.router,
                input_ended=milestones.input_ended,
            )

        specs = (ChildSpec(self.router, make_router), ChildSpec(reader, make_reader))
        return self._supervisor(self._address("input"), specs, "one_for_one")

    def _supervisor(
        self, address: Address[SupervisorMessage], specs: tuple[ChildSpec, ...], strategy: Strategy
    ) -> ChildSpec:
        return ChildSpec(
            address, lambda: Supervisor(self._system, address, specs, strategy, RESTARTS)
        )

    def _address(self, name: str) -> Address[Any]:
        return Address(name, self._system.platform, self._system.telemetry)
