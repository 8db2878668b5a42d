"""A command line that is whole, done without click, whose import is half of what a verb takes.

Help, completion and mistakes are left to `runtimes.chant.cli`; both read words by `parsing`.
"""

from __future__ import annotations

import os
import sys

from runtimes.chant.parsing import parse
from runtimes.chant.performing import perform
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import CANCELLED, FAILED, Invocation

COMPLETING = "_CHANT_COMPLETE"
"""Set by a shell that completes; the words are not to be carried out then."""


def perform_straight(argv: list[str]) -> int | None:
    """Do what ``argv`` says and return the exit code; None if it is no whole invocation."""
    invocation = None if COMPLETING in os.environ else parse(argv, VERBS)
    if not isinstance(invocation, Invocation):
        return None
    try:
        return perform(invocation)
    except KeyboardInterrupt:
        return CANCELLED
    except OSError as error:  # of the output: what else a verb meets is its own outcome
        # What is left in the buffer would be written once more at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"chant: the output can't be written: {error.strerror}\n")
        return FAILED
