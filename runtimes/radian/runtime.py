"""radian behind the protocol: one process holds one session, and a prompt is a turn of the agent.

Imports almost nothing: the answer of `initialize` waits for this module.  The agent is imported
when the first session is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocol.handshake import AgentCapabilities, AgentInfo
from runtimes.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from actors.opened_session import OpenedSession
    from actors.platform import Platform
    from actors.runtime import TurnRule
    from actors.turn import TurnMachine
    from protocol.acp.prompts import Prompt
    from protocol.acp.sessions import LoadSession, NewSession, ResumeSession
    from protocol.handshake import InitializeParams
    from runtimes.radian.ground import AgentGround
    from runtimes.radian.options import ConversationOptions
    from runtimes.radian.session import AgentSession
    from runtimes.radian.updates import LiveUpdates

FIRST = ("tomllib", "runtimes.radian.options", "runtimes.radian.opening")
"""What opening a session imports."""
WARM = (
    "actors.model_call",
    "runtimes.radian.agent_turn",
    "runtimes.radian.prompt_turn",
    "runtimes.radian.updates",
    "runtimes.models.pricing",
)
"""What the first prompt imports beside what opening a session did."""
WARM_TOO = (
    "runtimes.radian.tool_round",
    "actors.callable_step",
    "actors.process_step",
    "actors.guardian",
)
"""What the first call of a tool imports; not while a prompt waits for its answer."""


class RadianRuntime:
    """See `actors.runtime.Runtime`."""

    turn_rule: TurnRule = "refuse"
    methods = frozenset({"session/load"})

    def __init__(
        self,
        platform: Platform,
        environ: Mapping[str, str],
        options: Callable[[], ConversationOptions],
        ground: AgentGround | None = None,
    ) -> None:
        """``options`` returns the checked flags; called when a session is opened.

        ``ground``: what the session stands on; None: this process's own.
        """
        self._platform = platform
        self._environ = environ
        self._options = options
        self._ground = ground
        self._opening = platform.condition()
        self._session: AgentSession | None = None
        self._updates: LiveUpdates | None = None
        self._prompted = False

    def agent_info(self) -> AgentInfo:
        """Name ourselves."""
        return AgentInfo("radian", VERSION, "radian")

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        """Offer the same to every client."""
        del initialize
        return AgentCapabilities(load_session=True, image=True, embedded_context=True)

    def get_ready(self) -> None:
        """Import what opening a session will need; see `actors.serve.Server`."""
        from importlib import import_module

        for name in FIRST:
            import_module(name)

    def warm_up(self) -> None:
        """Import what the first prompt will need, and make ready what the first call will."""
        from importlib import import_module

        from runtimes.models.registry import warm_up

        for name in WARM:
            import_module(name)
        if self._session is not None:
            self._session.desk.model.tools()
            warm_up(self._session.desk.model.provider)
        if not self._prompted:
            for name in WARM_TOO:
                import_module(name)

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        """Open the one session of this process; while one request does, others wait.

        Raises:
            ProtocolError: There is one already, or this one can't be opened; then another can.

        """
        from runtimes.radian.opening import check_none_is_open, open_agent

        with self._opening:
            check_none_is_open(self._session)
            opened = open_agent(request, self._options(), self._environ, self._ground)
            self._session = opened.state
            return opened

    def close(self) -> None:
        """End background jobs and let go of the journal; no turn runs any more."""
        if self._session is None:
            return
        from actors.logs import say
        from runtimes.radian.session_errors import JournalError

        try:
            self._session.close()
        except JournalError as error:
            say(str(error))

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> TurnMachine:
        """Make the machine of a turn.

        Raises:
            InvalidParams: There is nothing in the prompt.

        """
        from runtimes.radian.prompt_turn import turn_for

        del turn_id  # turns are counted by the journal
        self._prompted = True
        return turn_for(session.state, prompt)

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        """Turn events, or updates as they are, into wire lines."""
        from protocol.acp.updates import encode_update

        if self._updates is None:
            from runtimes.radian.updates import LiveUpdates

            self._updates = LiveUpdates()
        self._say_warnings(items)
        return [encode_update(session_id, update) for update in self._updates.of(items)]

    def _say_warnings(self, items: Sequence[Any]) -> None:
        """Write what is odd to stderr as well, where those look who started us."""
        from runtimes.radian import events

        for item in items:
            told = not isinstance(item, events.Warning) or item.told
            if not told and self._session is not None:
                from actors.logs import say

                say(f"warning: {self._session.desk.mask(item.message)}")
