"""``chant run`` on the command line: the same turn as in a session, shown on a terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from actors.local_host import run_turn
from actors.real_platform import RealPlatform
from ops.step_env import channel_of
from runtimes.chant.error_text import error_line, failure_document
from runtimes.chant.json_text import json_page
from runtimes.chant.op_turn import OpTurn
from runtimes.chant.project_tasks import ProjectTasks
from runtimes.chant.render import TerminalView
from runtimes.chant.render_json import ProgressView, QuietView
from runtimes.chant.run_tasks import RunOutcome
from runtimes.chant.verbs.run import request_of
from runtimes.chant.verbs.verb import CANCELLED, FAILED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from runtimes.chant.items import Item
    from runtimes.chant.render import View
    from runtimes.chant.verbs.verb import Invocation

SIGNAL_BASE = 128
"""What a shell adds to the number of the signal that ended a program."""


def run_op(
    invocation: Invocation, cwd: str, environ: Mapping[str, str], out: TextIO, err: TextIO
) -> int:
    """Run an Op to its end, show it while it runs, and return the exit code."""
    platform = RealPlatform()
    tasks = ProjectTasks(request_of(invocation, cwd, environ, channel_of(environ)), platform)
    view = view_for(invocation, environ, out, err)
    with lively(view, environ, out) as shown:
        ended = run_turn(OpTurn(tasks, platform, "run"), Unbroken(shown, out).show)
    outcome = ended.turn.value
    if not isinstance(outcome, RunOutcome):
        failed = RunOutcome(FAILED, reason="see the log")
        outcome = RunOutcome(CANCELLED) if ended.turn.error is None else failed
    if ended.turn.error is not None and outcome.reason:
        err.write(error_line("run", outcome.reason))
    if invocation.on("--json") and not invocation.on("--progress-json"):
        failure = failure_document(outcome.code, outcome.reason or "cancelled before it began")
        out.write(json_page(outcome.record or failure))
    if outcome.code == CANCELLED and ended.signal is not None:
        return SIGNAL_BASE + ended.signal
    return outcome.code


class Unbroken:
    """A view that goes blind when its reader leaves: the run goes on, as its record will show."""

    def __init__(self, view: View, out: TextIO) -> None:
        self._view = view
        self._out = out
        self._broken = False

    def show(self, items: Sequence[Item]) -> None:
        """Show items as long as someone reads."""
        if self._broken:
            return
        try:
            self._view.show(items)
        except OSError:
            self._broken = True
            # What is left in the buffer would be written once more at exit, and fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())


def lively(view: View, environ: Mapping[str, str], out: TextIO) -> AbstractContextManager[View]:
    """Add a line that tells what runs, where there is a terminal that can take it away again."""
    from contextlib import nullcontext

    plain = not out.isatty() or environ.get("TERM", "dumb") == "dumb"
    if plain or not isinstance(view, TerminalView):
        return nullcontext(view)
    from runtimes.chant.live_view import LiveView

    return LiveView(view, out)


def view_for(invocation: Invocation, environ: Mapping[str, str], out: TextIO, err: TextIO) -> View:
    """Choose how a run is shown."""
    if invocation.on("--progress-json"):
        return ProgressView(out)
    if invocation.on("--json"):
        return QuietView(err)
    return TerminalView(out, err, colors=out.isatty() and not environ.get("NO_COLOR"))
