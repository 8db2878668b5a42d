"""Runs one turn on this process's streams: shown while it runs, its result last."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, Protocol

from actors import signals
from runtimes.radian import events
from runtimes.radian.exit_codes import FAILED, INTERRUPTED, TERMINATED, ending_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from actors.turn import TurnMachine
    from runtimes.radian.patient_out import PatientStreams
    from runtimes.radian.records import UserPart
    from runtimes.radian.session import AgentSession


UNREAD_MS = 2000
"""What a reader gets to take something once the process is told to end."""


class View(Protocol):
    """Shows a turn, and then what came of it."""

    def show(self, items: Sequence[events.Event]) -> None:
        """Show events.  May wait for whoever reads."""
        ...

    def result(self, table: Mapping[str, Any]) -> None:
        """Show the result record."""
        ...


def shown_as(output: str) -> Shown:
    """Return what shows turns as ``--output`` wants it."""
    from runtimes.radian.patient_out import PatientStreams

    streams = PatientStreams(sys.stdout, sys.stderr)
    return Shown(_view(output, streams), streams)


def _view(output: str, streams: PatientStreams) -> View:
    if output == "text":
        from runtimes.radian.stream_text import TextView

        return TextView(streams.out, streams.err, live=streams.out.isatty())
    from runtimes.radian.stream_json import JsonLines, JsonResult

    view = JsonLines if output == "jsonl" else JsonResult
    return view(streams.out_bytes, streams.err)


class Shown:
    """A view that falls silent once its reader has left."""

    def __init__(self, view: View, streams: PatientStreams) -> None:
        """``streams`` are what the view writes to."""
        self._view = view
        self._streams = streams
        self._signals: list[int] = []
        """Those of the turn that is shown, once it is over."""
        self.broken = False

    def show(self, items: Sequence[events.Event]) -> None:
        """Show events.

        Raises:
            OSError: The reader has left just now; later calls do nothing.

        """
        if self.broken:
            return
        try:
            self._view.show(items)
        except OSError:
            self._fall_silent()
            raise

    def result(self, table: Mapping[str, Any]) -> None:
        """Show the result, if anybody is there."""
        if self.broken:
            return
        try:
            self._view.result(table)
        except OSError:
            self._fall_silent()

    def hurry(self, *, hard: bool) -> None:
        """Wait no longer for a reader that takes nothing: the process is told to end."""
        self._streams.hurry(0 if hard else UNREAD_MS)

    def take_time(self) -> None:
        """Begin a turn: wait for the reader again, as long as nobody says otherwise."""
        self._signals = []
        self._streams.hurry(None)

    def last_words(self, heard: list[int]) -> None:
        """The turn is over, by signals perhaps: have the next one cost its result.

        ``heard``: grew with every signal until now, and goes on to.
        """
        self._signals = heard

        def give_up(later: int) -> None:
            heard.append(later)
            self.hurry(hard=True)

        signals.note(give_up)
        signals.ring(self._streams.ring_fd)

    @property
    def ends_with(self) -> int | None:
        """The signal that ends the process with this turn; Ctrl-C ends the turn only."""
        number = signals.telling(self._signals)
        return None if number == signal.SIGINT else number

    @property
    def exit_code(self) -> int:
        """The exit code of a turn that nobody heard the end of."""
        if not self._signals:
            return FAILED
        return INTERRUPTED if self.ends_with is None else TERMINATED

    def _fall_silent(self) -> None:
        self.broken = True
        # What is left in the buffer would be written once more at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def begin(session: AgentSession, shown: Shown) -> None:
    """Show what session this is, and what is odd about it.

    Raises:
        OSError: Nobody reads.

    """
    warnings = (events.Warning(session.desk.mask(each)) for each in session.warnings)
    shown.show([session.started(), *warnings])


def run_shown(session: AgentSession, shown: Shown, content: Sequence[UserPart]) -> int:
    """Run a prompt's turn, show it, and return its exit code."""
    return run_machine(session, shown, session.turn(content))


def run_machine(session: AgentSession, shown: Shown, turn: TurnMachine) -> int:
    """Run a turn, show it, and return its exit code."""
    from actors.local_host import run_turn
    from runtimes.radian.agent_turn import TurnOutcome
    from runtimes.radian.result import result_table

    gc.enable()
    shown.take_time()
    ended = run_turn(turn, shown.show, cancel_when_unheard=True, hurry=shown.hurry)
    shown.last_words(ended.signals)
    outcome = ended.turn.value
    if not isinstance(outcome, TurnOutcome):
        # The turn is over and recorded, and its last words were not taken; or a signal came before
        # it began, and there is nothing to tell.
        if shown.broken or ended.turn.error is None:
            return shown.exit_code
        sys.stderr.write("radian: internal error; the log has it\n")
        return FAILED
    fold, ending = outcome.fold, outcome.ending
    if shown.broken:
        ending = ending_of(fold.end, unheard=True)
    elif shown.ends_with is not None:  # the turn knows by what it was cancelled first
        ending = ending_of(fold.end, terminated=True)
    shown.result(result_table(session.session_id, session.desk.journal.path, fold, ending))
    return shown.exit_code if shown.broken else ending.exit_code
