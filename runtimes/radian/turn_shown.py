"""Runs one turn on this process's streams: shown while it runs, its result last."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any, Protocol

from runtimes.radian import events
from runtimes.radian.exit_codes import FAILED, ending_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from actors.turn import TurnMachine
    from runtimes.radian.records import UserPart
    from runtimes.radian.session import AgentSession


class View(Protocol):
    """Shows a turn, and then what came of it."""

    def show(self, items: Sequence[events.Event]) -> None:
        """Show events.  May wait for whoever reads."""
        ...

    def result(self, table: Mapping[str, Any]) -> None:
        """Show the result record."""
        ...


def view_for(output: str) -> View:
    """Return what shows turns as ``--output`` wants it."""
    if output == "text":
        from runtimes.radian.stream_text import TextView

        return TextView(sys.stdout, sys.stderr, live=sys.stdout.isatty())
    from runtimes.radian.stream_json import JsonLines, JsonResult

    return JsonLines(sys.stdout.buffer) if output == "jsonl" else JsonResult(sys.stdout.buffer)


class Shown:
    """A view that falls silent once its reader has left."""

    def __init__(self, view: View) -> None:
        self._view = view
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
    ended = run_turn(turn, shown.show, cancel_when_unheard=True)
    outcome = ended.turn.value
    if not isinstance(outcome, TurnOutcome):
        sys.stderr.write("radian: internal error; the log has it\n")
        return FAILED
    fold, ending = outcome.fold, outcome.ending
    if shown.broken:
        ending = ending_of(fold.end, unheard=True)
    shown.result(result_table(session.session_id, session.desk.journal.path, fold, ending))
    return FAILED if shown.broken else ending.exit_code
