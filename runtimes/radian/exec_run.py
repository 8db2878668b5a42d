"""``radian exec``: one prompt, one turn, one exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from runtimes.radian.exec_flags import FLAGS, check_together
from runtimes.radian.exit_codes import FAILED, NO_SESSION, USAGE, ending_of
from runtimes.radian.flags import FlagsMisused, read_flags
from runtimes.radian.options import conversation_options
from runtimes.radian.session_errors import JournalError, SessionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtimes.radian.events import Event
    from runtimes.radian.exit_codes import Ending
    from runtimes.radian.fold import TurnFold
    from runtimes.radian.session import AgentSession

MAX_PROMPT_BYTES = 64 * 1024 * 1024
STDIN = 0


class View(Protocol):
    """Shows a turn, and then what came of it."""

    def show(self, items: Sequence[Event]) -> None:
        """Show events.  May wait for whoever reads."""
        ...

    def result(self, table: Mapping[str, Any]) -> None:
        """Show the result record."""
        ...


def run_exec(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Do what the words after ``radian exec`` say and return the exit code."""
    from runtimes.radian.settings import SettingsError

    try:
        given = read_flags(argv, FLAGS)
        check_together(given)
        return perform(given, environ)
    except (FlagsMisused, SettingsError) as error:
        return _refuse(error, USAGE)
    except SessionError as error:
        return _refuse(error, NO_SESSION)
    except JournalError as error:
        return _refuse(error, FAILED)


def perform(given: Mapping[str, Any], environ: Mapping[str, str]) -> int:
    """Run what flags ask for.

    Raises:
        FlagsMisused: They or the prompt can't be used.
        SettingsError: Nor can the configuration.
        SessionError: Nor can the session.
        JournalError: The disk refused the session.

    """
    from runtimes.models.base import Text
    from runtimes.radian.session import SessionPlan, open_session
    from runtimes.radian.settings import settings_for

    options = conversation_options(given)
    settings = settings_for(options, environ)
    prompt = _prompt(given.get("prompt"))
    plan = SessionPlan(
        settings,
        options.workspace or os.path.realpath(os.getcwd()),
        options.resume,
        options.session_id,
        yes=bool(given.get("yes")),
    )
    session = open_session(plan, environ)
    try:
        view = view_for(given.get("output", "text"))
        return run_one(session, view, (Text(prompt),))
    finally:
        session.close()


def run_one(session: AgentSession, view: View, content: Sequence[Any]) -> int:
    """Run one turn, show it, and return the exit code."""
    from actors.local_host import run_turn
    from runtimes.radian import events
    from runtimes.radian.agent_turn import TurnOutcome
    from runtimes.radian.result import result_table

    shown = _Shown(view)
    shown.show(
        [session.started(), *(events.Warning(session.desk.mask(each)) for each in session.warnings)]
    )
    session.warnings.clear()
    ended = run_turn(session.turn(content), shown.show_or_raise, cancel_when_unheard=True)
    outcome = ended.turn.value
    if not isinstance(outcome, TurnOutcome):
        sys.stderr.write("radian: internal error; the log has it\n")
        return FAILED
    ending = _ending(outcome.fold, outcome.ending, unheard=shown.broken)
    table = result_table(session.session_id, session.desk.journal.path, outcome.fold, ending)
    shown.result(table)
    return FAILED if shown.broken else ending.exit_code


def _ending(fold: TurnFold, ending: Ending, *, unheard: bool) -> Ending:
    return ending_of(fold.end, unheard=True) if unheard else ending


def view_for(output: str) -> View:
    """Return what shows a turn on this process's own streams."""
    if output == "text":
        from runtimes.radian.stream_text import TextView

        return TextView(sys.stdout, sys.stderr, live=sys.stdout.isatty())
    from runtimes.radian.stream_json import JsonLines, JsonResult

    return JsonLines(sys.stdout.buffer) if output == "jsonl" else JsonResult(sys.stdout.buffer)


class _Shown:
    """A view that falls silent once its reader has left."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.broken = False

    def show(self, items: Sequence[Event]) -> None:
        try:
            self.show_or_raise(items)
        except OSError:
            return

    def show_or_raise(self, items: Sequence[Event]) -> None:
        if self.broken:
            return
        try:
            self._view.show(items)
        except OSError:
            self._silence()
            raise

    def result(self, table: Mapping[str, Any]) -> None:
        if self.broken:
            return
        try:
            self._view.result(table)
        except OSError:
            self._silence()

    def _silence(self) -> None:
        self.broken = True
        # What is left in the buffer would be written once more at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _prompt(given: str | None) -> str:
    """Return what is asked: the text itself, or all of stdin, which is not touched otherwise."""
    if given is not None and given != "-":
        text = given
    elif given is None and os.isatty(STDIN):
        message = "give a prompt: -p TEXT, or -p - to read it from stdin"
        raise FlagsMisused(message)
    else:
        text = _all_of(STDIN)
    if not text.strip():
        message = "the prompt is empty"
        raise FlagsMisused(message)
    return text


def _all_of(descriptor: int) -> str:
    try:
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(MAX_PROMPT_BYTES + 1)
    except OSError as error:
        message = f"stdin can't be read: {error.strerror}"
        raise FlagsMisused(message) from error
    if len(data) > MAX_PROMPT_BYTES:
        message = f"the prompt is longer than {MAX_PROMPT_BYTES} bytes"
        raise FlagsMisused(message)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"the prompt is no UTF-8: byte {error.start}"
        raise FlagsMisused(message) from error


def _refuse(error: Exception, code: int, err: TextIO | None = None) -> int:
    (err or sys.stderr).write(f"radian exec: {error}\n")
    return code
