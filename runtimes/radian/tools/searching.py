"""What `grep` and `glob` share: the command line of ripgrep, and reading what it prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actors.work import ProcessWork
from runtimes.radian.tools.base import ToolOutcome, ended_badly, failure
from runtimes.radian.tools.full_output import shorten

if TYPE_CHECKING:
    from actors.work import StepEnd
    from runtimes.radian.tools.base import ToolContext

DEFAULT_RESULTS = 200
MAX_RESULTS = 2000
NOTHING_FOUND = 1
"""ripgrep's exit code for it."""


def ripgrep_work(
    program: str,
    options: tuple[str, ...],
    top: str,
    context: ToolContext,
    shown: tuple[str, ...] = (),
) -> ProcessWork:
    """Return a search below ``top``, a folder or a file, that reads no configuration.

    ``shown`` are globs of files to look at; what is shut comes after them, since the last that
    matches counts.
    """
    folder, what = (top, "./") if os.path.isdir(top) else os.path.split(top)
    shut = ("!.git", *(f"!/{each}" for each in context.places.hidden_in(folder)))
    globs = [f"--glob={each}" for each in (*shown, *shut)]
    common = ("--no-config", "--no-ignore-global", "--hidden", "--color=never", "--sort=path")
    return ProcessWork((program, *common, *options, *globs, "--", what), folder, context.env)


def found_lines(end: StepEnd, limit: int, prefix: str) -> ToolOutcome:
    """Read the end of a search: at most ``limit`` lines, each with the folder before its name."""
    if end.kind != "exited":
        return failure(ended_badly(end))
    lines = [line for line in end.stdout.text.splitlines() if line]
    if not lines and end.exit_code != NOTHING_FOUND and end.stderr.text:
        return failure(shorten(end.stderr.text.strip(), 4096), "the search failed")
    return listing([prefix + line.removeprefix("./") for line in lines], limit)


def listing(lines: list[str], limit: int) -> ToolOutcome:
    """Return what was found, and whether there is more."""
    if not lines:
        return ToolOutcome("nothing found")
    text = shorten("\n".join(lines[:limit]))
    if len(lines) > limit:
        text += f"\n[more than {limit}: narrow the search, or raise the limit]"
    return ToolOutcome(text)


def prefix_of(top: str, context: ToolContext) -> str:
    """Return what leads from the workspace to the names that a search prints."""
    folder = top if os.path.isdir(top) else os.path.dirname(top)
    shown = context.places.shown(folder)
    return "" if shown == "." else f"{shown}/"
