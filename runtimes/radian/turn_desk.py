"""What a session gives its turns."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from protocol.values import slotted

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtimes.radian.journal import Journal
    from runtimes.radian.model_desk import ModelDesk
    from runtimes.radian.records import Entry
    from runtimes.radian.session_jobs import SessionJobs
    from runtimes.radian.tool_desk import ToolDesk
    from runtimes.radian.turn_state import Limits


@slotted
class TurnDesk:
    """One session's things.  Turns come one after the other, and each adds its records."""

    journal: Journal
    entries: list[Entry]
    """All of the journal, as it stands."""
    model: ModelDesk
    tools: ToolDesk
    limits: Limits
    mask: Callable[[str], str]
    """Takes known secrets out of a text."""
    monotonic: Callable[[], float]
    jobs: SessionJobs
    used_ids: set[str] = field(default_factory=set[str])
    """Ids of all calls so far."""
