"""An invocation from the command line: run it, print what it says, return the exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from ops.errors import OpsError
from runtimes.chant.error_text import error_line, failure_document, system_reason
from runtimes.chant.json_text import json_page
from runtimes.chant.planning import refusal_code
from runtimes.chant.verbs.run import plays
from runtimes.chant.verbs.verb import (
    CANCELLED,
    FAILED,
    OK,
    REFUSED,
    Invocation,
    Outcome,
    Surroundings,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Never:
    """A verb on the command line is stopped by a signal, not by a token."""

    def is_set(self) -> bool:
        """Say no."""
        return False

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Forget ``callback``: the signal is raised as an exception."""


def perform(invocation: Invocation) -> int:
    """Do what was typed, in the process's own folder and environment."""
    out, err = printable(sys.stdout), printable(sys.stderr)
    try:
        cwd = os.getcwd()
    except OSError as error:
        reason = f"the working directory can't be used: {error.strerror}"
        return _fail(invocation, REFUSED, reason, out, err)
    if plays(invocation):
        from runtimes.chant.running import run_op

        return run_op(invocation, cwd, os.environ, out, err)
    from runtimes.help_layout import terminal_width

    around = Surroundings(cwd, os.environ, Never(), width=terminal_width())
    return answer(invocation, around, out, err)


def answer(invocation: Invocation, around: Surroundings, out: TextIO, err: TextIO) -> int:
    """Run a verb other than a run, print its outcome and return its code."""
    as_json = invocation.on("--json")
    try:
        outcome = invocation.verb.handler(invocation, around)
    except OpsError as error:
        return _fail(invocation, refusal_code(error), error.message, out, err)
    except OSError as error:
        return _fail(invocation, FAILED, system_reason(error), out, err)
    except KeyboardInterrupt:
        return CANCELLED
    _print(outcome, out, err, as_json=as_json)
    return outcome.code


def _fail(invocation: Invocation, code: int, reason: str, out: TextIO, err: TextIO) -> int:
    err.write(error_line(invocation.verb.name, reason))
    if invocation.on("--json"):
        out.write(json_page(failure_document(code, reason)))
    return code


def printable(stream: TextIO | None) -> TextIO:
    """Let a stream show what its encoding can't carry; one that was closed goes nowhere."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def _print(outcome: Outcome, out: TextIO, err: TextIO, *, as_json: bool) -> None:
    if as_json and outcome.document is not None:
        out.write(json_page(outcome.document))
    elif outcome.text:
        stream = out if outcome.code == OK or outcome.is_answer else err
        stream.write(f"{_fitted(outcome, stream)}\n")
    err.writelines(f"{warning}\n" for warning in outcome.warnings)
    out.flush()  # here, where a reader that left is still an error that click answers


def _fitted(outcome: Outcome, stream: TextIO) -> str:
    if not outcome.is_table:
        return outcome.text
    from runtimes.folding import folded_for

    return folded_for(stream, outcome.text)
