"""An invocation from the command line: run it, print what it says, return the exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from ops.errors import OpsError
from runtimes.chant.json_text import json_page
from runtimes.chant.planning import refusal_code
from runtimes.chant.verbs.run import plays
from runtimes.chant.verbs.verb import CANCELLED, OK, Invocation, Outcome, Surroundings

if TYPE_CHECKING:
    from collections.abc import Mapping


class Never:
    """A verb on the command line is stopped by a signal, not by a token."""

    def is_set(self) -> bool:
        """Say no."""
        return False


def perform(invocation: Invocation) -> int:
    """Do what was typed, in the process's own folder and environment."""
    make_printable(sys.stdout)
    make_printable(sys.stderr)
    if plays(invocation):
        from runtimes.chant.running import run_op

        return run_op(invocation, os.getcwd(), os.environ, sys.stdout, sys.stderr)
    around = Surroundings(os.getcwd(), os.environ, Never())
    return answer(invocation, around, sys.stdout, sys.stderr)


def answer(invocation: Invocation, around: Surroundings, out: TextIO, err: TextIO) -> int:
    """Run a verb other than a run, print its outcome and return its code."""
    as_json = invocation.on("--json")
    try:
        outcome = invocation.verb.handler(invocation, around)
    except OpsError as error:
        code = refusal_code(error)
        err.write(f"chant {invocation.verb.name}: {error.message}\n")
        if as_json:
            out.write(json_page(failure_document(code, error.message)))
        return code
    except KeyboardInterrupt:
        return CANCELLED
    _print(outcome, out, err, as_json=as_json)
    return outcome.code


def failure_document(code: int, reason: str) -> Mapping[str, Any]:
    """Return what --json prints where there is nothing else to print."""
    return {"error": reason, "exit_code": code}


def make_printable(stream: TextIO) -> None:
    """Let a stream show what its encoding can't carry, rather than fail on it."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _print(outcome: Outcome, out: TextIO, err: TextIO, *, as_json: bool) -> None:
    if as_json and outcome.document is not None:
        out.write(json_page(outcome.document))
    elif outcome.text:
        (out if outcome.code == OK else err).write(f"{outcome.text}\n")
    err.writelines(f"{warning}\n" for warning in outcome.warnings)
