"""Writes of one turn, one after the other: what waits goes out together.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from actors.turn import StartStep
from actors.work import CallableWork
from protocol.values import frozen
from runtimes.radian.live_output import nothing_shown
from runtimes.radian.session_errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.turn import TurnEffect
    from actors.work import StepEnd, WorkContext
    from runtimes.radian.journal import Journal
    from runtimes.radian.records import Entry, Record


@frozen
class Write:
    """Put records into the journal, in this place of the order."""

    records: tuple[Record, ...]
    sync: bool = False


@frozen
class Written:
    """What came of a write."""

    entries: tuple[Entry, ...] = ()
    """What is in the journal now."""
    error: str | None = None
    """Why that is not all, or why it may not last."""


AgentEffect: TypeAlias = "TurnEffect | Write"


class JournalQueue:
    """Records on their way into the journal."""

    def __init__(
        self, key: str, journal: Journal, recorded: Callable[[tuple[Entry, ...]], None]
    ) -> None:
        """``key`` begins the ids of the steps; unique in the session.

        ``recorded`` gets what is in the journal as soon as it is, on the thread that wrote it.
        """
        self._key = key
        self._journal = journal
        self._recorded = recorded
        self._came: Written | None = None
        """Known here also where the end of the step that wrote is lost."""
        self._waiting: list[Record] = []
        self._sync = False
        self._number = 0
        self._running = False

    @property
    def idle(self) -> bool:
        """All that was put is written."""
        return not self._running and not self._waiting

    def put(self, write: Write) -> None:
        """Add records behind those that wait, for `more`."""
        self._waiting += write.records
        self._sync = self._sync or write.sync

    def more(self) -> list[TurnEffect]:
        """Write what waits, unless a write is on its way."""
        if self._running or not self._waiting:
            return []
        records, sync = tuple(self._waiting), self._sync
        self._waiting.clear()
        self._sync, self._running = False, True
        self._number += 1

        def run(context: WorkContext) -> None:
            del context
            try:
                came = Written(self._journal.append(records, sync=sync))
            except JournalError as error:
                came = Written(error.written, str(error))
            self._recorded(came.entries)
            self._came = came

        work = CallableWork("journal", run)
        # Spared: what a hard stop cut off here would be told as lost, and might be written yet.
        return [StartStep(self._step_id, work, nothing_shown, spared=True)]

    def drop(self) -> None:
        """Forget what waits: nothing more is written."""
        self._waiting.clear()
        self._sync = False

    def owns(self, step_id: str) -> bool:
        """Tell whether a step is the write on its way."""
        return self._running and step_id == self._step_id

    def ended(self, end: StepEnd) -> Written:
        """Return what came of the write."""
        self._running = False
        came, self._came = self._came, None
        lost = f"the journal could not be written: {end.error or end.kind}"
        return came or Written(error=lost)

    @property
    def _step_id(self) -> str:
        return f"{self._key}/journal-{self._number}"
