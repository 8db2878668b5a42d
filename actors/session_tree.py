"""The actors of each session, made when its first turn starts: [session, executor, model call]."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from actors.address import Address
from actors.model_call import ModelCallActor
from actors.session import SessionActor
from actors.step_executor import StepExecutorActor
from actors.supervisor import AddChild, ChildSpec, Supervisor
from actors.turn_slot import SessionDesk

if TYPE_CHECKING:
    from actors.base import System
    from actors.model_call import ModelCallMessage
    from actors.session_state import SessionMessage
    from actors.step_executor import ExecutorMessage
    from actors.supervisor import SupervisorMessage
    from actors.work import StepService

RESTARTS = (3, 60.0)
"""Restarts within seconds, for each session and for all of them together."""


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

    def parts(self, session_id: str) -> SessionParts:
        """Return a session's parts; the first call starts its actors.  One thread only."""
        found = self._parts.get(session_id)
        if found is None:
            found = self._parts[session_id] = self._make(session_id)
        return found

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
