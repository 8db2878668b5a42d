"""The actors of each session, made when its first turn starts: [session, executor, model call]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.address import Address
from actors.model_call import ModelCallActor
from actors.session import SessionActor
from actors.step_executor import StepExecutorActor
from actors.supervisor import AddChild, ChildSpec, Supervisor
from actors.turn_slot import SessionDesk
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from actors.base import System
    from actors.model_call import ModelCallMessage
    from actors.session_state import SessionMessage
    from actors.step_executor import ExecutorMessage
    from actors.supervisor import SupervisorMessage
    from actors.work import StepService

RESTARTS = (3, 60.0)
"""Restarts within seconds, for each session and for all of them together."""
MOST_TREES = 16
"""So many sessions have actors of their own.  Beyond that, an idle session's serve the next one:
one connection runs one turn at a time, and actors without a turn know nothing of their session."""


class SessionParts(NamedTuple):
    """Where to reach one session's actors, and the desk that they share."""

    desk: SessionDesk
    session: Address[SessionMessage]
    executor: Address[ExecutorMessage]


class SessionTree:
    """Makes the actors of sessions under one supervisor."""

    def __init__(
        self, system: System, sessions: Address[SupervisorMessage], steps: StepService
    ) -> None:
        """Add children to the supervisor at ``sessions``; they start steps at ``steps``."""
        self._system = system
        self._sessions = sessions
        self._steps = steps
        self._parts: dict[str, SessionParts] = {}
        """By session, the one that was used last at the end."""

    def parts(self, session_id: str) -> SessionParts:
        """Return a session's parts; the first call may start actors.  One thread only."""
        found = self._parts.pop(session_id, None) or self._idle(session_id)
        parts = self._parts[session_id] = found or self._make(session_id)
        return parts

    def _idle(self, session_id: str) -> SessionParts | None:
        """Take over what has been idle for longest, once there are enough."""
        if len(self._parts) < MOST_TREES:
            return None
        for owner, parts in self._parts.items():
            if parts.desk.slot is None:
                del self._parts[owner]
                parts.desk.session_id = session_id
                return parts
        return None

    def _make(self, session_id: str) -> SessionParts:
        number = len(self._parts) + 1
        desk = SessionDesk(session_id)
        session: Address[SessionMessage] = self._address(f"session {number}")
        executor: Address[ExecutorMessage] = self._address(f"executor {number}")
        model: Address[ModelCallMessage] = self._address(f"model call {number}")
        specs = (
            ChildSpec(session, lambda: SessionActor(self._system, session, desk, executor)),
            ChildSpec(
                executor,
                lambda: StepExecutorActor(self._system, executor, desk, self._steps, model),
            ),
            ChildSpec(model, lambda: ModelCallActor(self._system, model)),
        )
        top: Address[SupervisorMessage] = self._address(f"session supervisor {number}")
        self._sessions.tell(
            AddChild(
                ChildSpec(
                    top, lambda: Supervisor(self._system, top, specs, "rest_for_one", RESTARTS)
                )
            )
        )
        return SessionParts(desk, session, executor)

    def _address(self, name: str) -> Address[object]:
        return Address(name, self._system.platform, self._system.telemetry)
