"""What a product must offer to be served: the seam between `actors` and `runtimes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from actors.opened_session import OpenedSession
    from actors.turn import TurnMachine
    from protocol.acp.prompts import Prompt
    from protocol.acp.sessions import LoadSession, NewSession, ResumeSession
    from protocol.handshake import AgentCapabilities, AgentInfo, InitializeParams

TurnRule: TypeAlias = Literal["queue", "refuse"]
"""A prompt while a turn runs: wait in order (chant, one command at a time), or be refused.

Where it is refused one session is all there is: what opens it is tried in the order of reading.
"""


class OwnTurns(Protocol):
    """The turns that a session begins by itself, say when something in the background has ended."""

    def connect(self, wish: Callable[[], None]) -> None:
        """Take what wishes for a turn.  Called once the session is known, on the router's thread.

        ``wish`` may be called from any thread, at any time and as often as one likes: it never
        waits, wishes are one turn until it begins, and when the connection ends they come to
        nothing.  The turn goes before prompts that wait.  A cancel of the session takes the wish
        away and ends the turn as it does a prompt's.
        """
        ...

    def begin(self) -> TurnMachine:
        """Make the machine of the turn; no other turn of the session runs.  Must not wait.

        Where there is nothing left to do it is a machine that ends at once.
        """
        ...


class Runtime(Protocol):
    """One product behind the protocol."""

    turn_rule: TurnRule
    methods: frozenset[str]
    """Optional methods that it serves, such as ``session/resume``; the rest is -32601."""

    def agent_info(self) -> AgentInfo:
        """Name, title, version.  Must not import anything heavy: `initialize` waits for it."""
        ...

    def capabilities(self, initialize: InitializeParams) -> AgentCapabilities:
        """What to advertise to this client."""
        ...

    def warm_up(self) -> None:
        """Import what the first prompt will need.  Called on a leaf thread after the handshake."""
        ...

    def open_session(self, request: NewSession | ResumeSession | LoadSession) -> OpenedSession:
        """Open a session; may look at the disk (leaf thread).

        Raises:
            ProtocolError: The request can't be served; worded for the client.

        """
        ...

    def begin_turn(self, session: OpenedSession, prompt: Prompt, turn_id: str) -> TurnMachine:
        """Make the machine of one turn.  Must not wait: slow work belongs into its first step."""
        ...

    def render_items(self, session_id: str, items: Sequence[Any]) -> list[bytes]:
        """Turn outlet items into wire lines.  Pure; called on the turn's speaker thread."""
        ...
