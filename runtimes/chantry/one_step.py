"""The smallest product: each prompt is one step.  For simulating an activity of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.opened_session import OpenedSession
from actors.turn import (
    AbortStep,
    CancelAsked,
    EndTurn,
    MachineFailed,
    StartStep,
    StepEnded,
    TurnResult,
    TurnStarted,
)
from protocol.acp.sessions import NewSession, new_session_result
from protocol.acp.updates import AgentMessageChunk, encode_update
from protocol.errors import InternalError
from protocol.handshake import AgentCapabilities, AgentInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.runtime import TurnRule
    from actors.turn import TurnEffect, TurnEvent
    from actors.work import StepEnd, Stream, Work
    from protocol.acp.prompts import Prompt
    from protocol.acp.sessions import LoadSession, ResumeSession
    from protocol.handshake import InitializeParams

STEP = "step"


class OneStepRuntime:
    """See `actors.runtime.Runtime`."""

    turn_rule: TurnRule = "queue"
    methods: frozenset[str] = frozenset()

    def __init__(self, make_work: Callable[[str], Work]) -> None:
        """Do for each prompt what ``make_work`` returns for its text."""
        self._make_work = make_work
        self._sessions = 0
        self.ends: list[StepEnd] = []
        """How each step ended, oldest first."""

    def agent_info(self) -> AgentInfo:
        """Name ourselves."""
        return AgentInfo("one-step", "0", "One step")

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        """Offer nothing but prompts."""
        del initialize
        return AgentCapabilities()

    def warm_up(self) -> None:
        """All is imported."""

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        """Open a new session."""
        self._sessions += 1
        session_id = f"session-{self._sessions}"
        return OpenedSession(session_id, request.cwd, new_session_result(session_id))

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> OneStepTurn:
        """Make the work of a prompt."""
        del session
        text = "".join(getattr(block, "text", "") for block in prompt.blocks)
        return OneStepTurn(self._make_work(text), turn_id, self.ends)

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        """Show what a step prints."""
        return [encode_update(session_id, item) for item in items]


class OneStepTurn:
    """See `actors.turn.TurnMachine`."""

    def __init__(self, work: Work, turn_id: str, ends: list[StepEnd]) -> None:
        """Do ``work`` and note its end."""
        self._work = work
        self._turn_id = turn_id
        self._ends = ends
        self._cancelled = False

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """Start the step, stop it on a cancel, end with it."""
        match event:
            case TurnStarted():
                return [StartStep(STEP, self._work, self._render)]
            case CancelAsked() if not self._cancelled:
                self._cancelled = True
                return [AbortStep(STEP)]
            case StepEnded(end):
                self._ends.append(end)
                return [EndTurn(TurnResult("cancelled" if self._cancelled else "end_turn"))]
            case MachineFailed():
                return [EndTurn(TurnResult("refusal", error=InternalError()))]
            case _:
                return []

    def _render(self, stream: Stream, text: str) -> tuple[AgentMessageChunk, ...]:
        return (AgentMessageChunk(text, f"{self._turn_id}/{stream}"),)
