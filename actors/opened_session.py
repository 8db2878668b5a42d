"""A session as a runtime opened it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.runtime import OwnTurns


@frozen
class OpenedSession:
    """A session that the runtime agreed to open."""

    session_id: str
    cwd: str
    result: dict[str, Any] = field(default_factory=dict[str, Any])
    """The answer's result, as it goes on the wire."""
    before: tuple[Any, ...] = ()
    """Updates that must leave before the answer (the replay of `session/load`)."""
    after: tuple[Any, ...] = ()
    """Updates that must leave after it (available commands)."""
    on_cancel: Callable[[], None] | None = None
    """Called on each ``session/cancel`` for it, also when no turn runs.  Must not wait."""
    own_turns: OwnTurns | None = None
    """Where it may begin turns that no prompt asks for."""
    state: Any = None
    """The runtime's own; comes back with each prompt."""
