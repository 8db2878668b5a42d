"""Turn after turn at a terminal: one line, one turn, until Ctrl-D; jobs that end have theirs."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from actors.stdio import WakePipe
from runtimes.models.base import Text
from runtimes.radian.exit_codes import FAILED, OK
from runtimes.radian.home import trust_file_of
from runtimes.radian.trust import TrustInvalidError
from runtimes.radian.turn_shown import run_machine, run_shown
from runtimes.radian.typed_line import (
    Interrupted,
    SignalHeard,
    ask_line,
    finish_in_order,
    hear_signals,
)
from runtimes.radian.wakes import Wakes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.radian.records import UserPart
    from runtimes.radian.session import AgentSession
    from runtimes.radian.turn_shown import Shown

PROMPT = "> "


def converse(session: AgentSession, shown: Shown, first: Sequence[UserPart] = ()) -> int:
    """Read prompts and run their turns; return the exit code of the last one.

    A job that ends meanwhile begins a turn of its own, before that of a line that is being typed.
    ``first``: pictures that go with the first prompt.

    Raises:
        SignalHeard: At the prompt; of one that ends the process, also when it came in a turn.

    """
    try:
        return _converse(session, shown, first)
    finally:
        finish_in_order()


def _converse(session: AgentSession, shown: Shown, first: Sequence[UserPart]) -> int:
    _greet(session)
    bell, wakes = WakePipe(), Wakes(session)
    wakes.connect(bell.ring)
    code, more = OK, tuple(first)
    while True:
        _hear_signals(shown)
        line = None if shown.broken else ask_line(PROMPT, bell)
        if line is None:
            return FAILED if shown.broken else code
        woken = wakes.next_turn()
        if woken is not None:
            run_machine(session, shown, woken)
            _hear_signals(shown)
        text = "" if isinstance(line, Interrupted) else _clean(line)
        if text and not shown.broken:
            code, more = run_shown(session, shown, (Text(text), *more)), ()


def _hear_signals(shown: Shown) -> None:
    """Let signals end the process, from those on that came in the turn that was shown last.

    Raises:
        SignalHeard: There was one.

    """
    hear_signals()
    if (number := shown.ends_with) is not None:
        raise SignalHeard(number)


def _greet(session: AgentSession) -> None:
    """Say who answers, what it may do, and how to stop it; one that has left hears nothing."""
    it = session.started()
    who = f"radian {it.version}: {it.model} of {it.provider}, profile {it.profile}"
    how = "One line is one turn; Ctrl-C stops a turn, Ctrl-D ends."
    with suppress(OSError):
        sys.stderr.write(f"{who}, session {it.session_id}\n{how}\n")
        sys.stderr.flush()


def _clean(line: str) -> str:
    return line.strip().encode("utf-8", "replace").decode()


def asks_for_trust(workspace: str, home: str) -> bool:
    """Ask once whether the project is trusted, and note the answer."""
    brings = "its AGENTS.md and .radian are loaded then"
    sys.stderr.write(f"Is the project in {workspace} trusted? If so, {brings}.\n")
    answer = ask_line("Trust it? [y/N] ")
    typed = answer if isinstance(answer, str) else ""
    trusted = typed.strip().lower() in {"y", "yes"}
    try:
        trust_file_of(home).save(workspace, trusted=trusted)
    except (OSError, TrustInvalidError) as error:
        sys.stderr.write(f"radian: the answer can't be kept: {error}\n")
    return trusted
