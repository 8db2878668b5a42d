"""What `grep` and `glob` share: the command line of ripgrep, and reading what it prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actors.work import ProcessWork
from runtimes.radian.tools.base import ToolOutcome, ended_badly, failure
from runtimes.radian.tools.full_output import shorten
from runtimes.radian.tools.places import glob_escaped

if TYPE_CHECKING:
    from actors.work import StepEnd
    from runtimes.radian.tools.base import ToolContext
    from runtimes.radian.tools.found import Found

DEFAULT_RESULTS = 200
MAX_RESULTS = 2000
NOTHING_FOUND = 1
"""ripgrep's exit code for it."""


def ripgrep_work(
    program: str,
    options: tuple[str, ...],
    top: str,
    context: ToolContext,
    shown: str | None = None,
) -> ProcessWork:
    """Return a search below ``top``, a folder or a file, that reads no configuration.

    ``shown`` is a glob of files to look at.  It runs at the root, so that all globs are absolute;
    what is shut comes last, since the last glob that matches counts.
    """
    shut = ("!.git", *(f"!{each}" for each in context.places.hidden_below(top)))
    globs = [f"--glob={each}" for each in ((shown, *shut) if shown else shut)]
    common = (
        "--no-config",
        "--no-ignore-global",
        "--hidden",
        "--color=never",
        "--sort=path",
        "--null",
    )
    return ProcessWork((program, *common, *options, *globs, "--", top), "/", context.env)


def glob_below(top: str, pattern: str) -> str:
    """Return a pattern as an absolute glob."""
    folder = top if os.path.isdir(top) else os.path.dirname(top)
    return f"{glob_escaped(folder).rstrip('/')}/{pattern.lstrip('/')}"


def search_outcome(end: StepEnd, found: Found, limit: int) -> ToolOutcome:
    """Read the end of a search: at most ``limit`` lines, names relative to the workspace."""
    if end.kind != "exited":
        return failure(ended_badly(end))
    if not found.lines and end.exit_code != NOTHING_FOUND and end.stderr.text:
        return failure(shorten(end.stderr.text.strip(), 4096), "the search failed")
    return listing(found.lines, limit, found.lost)


def listing(lines: list[str], limit: int, lost: int = 0) -> ToolOutcome:
    """Return what was found, and whether there is more, or was: ``lost`` are left out."""
    text = shorten("\n".join(lines[:limit])) or "nothing found"
    if len(lines) > limit:
        text += f"\n[more than {limit}: narrow the search, or raise the limit]"
    if lost:
        text += f"\n[{lost} more are left out: their files can't be opened by these names]"
    return ToolOutcome(text)
