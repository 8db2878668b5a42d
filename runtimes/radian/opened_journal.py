"""The journal of a session that is being opened, and what its records say to whoever goes on."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from protocol.values import slotted
from runtimes.radian.healing import calls_of
from runtimes.radian.ids import new_session_id
from runtimes.radian.records import AssistantMessage, JobStarted, SessionCreated, TurnStarted
from runtimes.version import VERSION

if TYPE_CHECKING:
    from actors.platform import Platform
    from runtimes.radian.journal import Journal
    from runtimes.radian.records import Entry
    from runtimes.radian.session import SessionPlan
    from runtimes.radian.sessions import Sessions


@slotted
class OpenedJournal:
    """See the module."""

    journal: Journal
    entries: list[Entry]
    warnings: list[str] = field(default_factory=list[str])
    is_new: bool = False

    def let_go(self) -> None:
        """Close it: the session can't be opened.  A new one is none then."""
        if self.is_new:
            self.journal.void()
        self.journal.close()

    @property
    def session_id(self) -> str:
        """Whose it is."""
        first = self.entries[0].record
        assert isinstance(first, SessionCreated)  # noqa: S101 - a journal is not loaded otherwise
        return first.session_id

    @property
    def last_turn(self) -> int:
        """The number of the last turn that began, 0 before the first."""
        records = (each.record for each in self.entries)
        return max((each.turn for each in records if isinstance(each, TurnStarted)), default=0)

    def call_ids(self) -> set[str]:
        """Return the ids of all calls so far."""
        messages = (each.record for each in self.entries)
        return {
            call.call_id
            for message in messages
            if isinstance(message, AssistantMessage)
            for call in calls_of(message)
        }

    def jobs(self) -> int:
        """Return how many jobs there were so far; what they printed lies under their numbers."""
        return sum(isinstance(each.record, JobStarted) for each in self.entries)


def open_for(plan: SessionPlan, sessions: Sessions, platform: Platform) -> OpenedJournal:
    """Open the journal that a plan goes on with, or make its new one.

    Raises:
        SessionError: It can't be used; nothing was written.
        JournalError: The disk refused it.

    """
    if plan.resume is None:
        session_id = plan.session_id or new_session_id(platform.wall(), platform.entropy(10))
        first = SessionCreated(session_id, plan.workspace, VERSION)
        journal, entry = sessions.create(first, platform.wall)
        return OpenedJournal(journal, [entry], is_new=True)
    journal, loaded = sessions.open(plan.resume, plan.workspace, platform.wall)
    opened = OpenedJournal(journal, list(loaded.entries), list(loaded.warnings))
    if plan.session_id not in {None, plan.resume}:
        opened.warnings.append(f"--session-id {plan.session_id} is ignored: --resume goes on")
    return opened
