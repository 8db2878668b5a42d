"""A command line that is whole, done without click, whose import is half of what a verb takes.

Help, completion and mistakes are left to `runtimes.chant.cli`; both read words by `parsing`.
"""

from __future__ import annotations

import os

from runtimes.chant.parsing import parse
from runtimes.chant.performing import perform
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import CANCELLED, Invocation

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
