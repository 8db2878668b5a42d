"""Walking and searching a folder without ripgrep: slower, with fewer rules about what to skip."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runtimes.radian.patterns import glob_matches
from runtimes.radian.tools.base import ToolFailedError
from runtimes.radian.tools.disk import is_there, open_regular

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from actors.work import WorkContext
    from runtimes.radian.tools.base import ToolContext

SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__", ".tox"})
"""Folders that nobody means; ripgrep reads .gitignore instead."""
MAX_SEARCHED_BYTES = 32 * 1024 * 1024
"""Of one file."""
MAX_LINE_BYTES = 4096
"""Searched of one line; a pattern could take very long on more."""


def files_in(top: str, context: ToolContext, work: WorkContext) -> Iterator[str]:
    """Yield the files below a folder (or the file itself), in order, without following links.

    Raises:
        ToolFailedError: It was stopped.

    """
    if not os.path.isdir(top):
        yield top
        return
    for folder, folders, names in os.walk(top):
        if work.cancel.is_set():
            message = "stopped"
            raise ToolFailedError(message)
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED and not context.places.hides(os.path.join(folder, name))
        )
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not os.path.islink(path) and not context.places.hides(path):
                yield path


def matching_files(
    top: str, pattern: str, context: ToolContext, work: WorkContext
) -> Iterator[str]:
    """Yield files by a glob that is relative to ``top``."""
    for path in files_in(top, context, work):
        if glob_matches(pattern, os.path.relpath(path, top)) and is_there(path):
            yield path


def matching_lines(
    top: str, pattern: re.Pattern[bytes], glob: str | None, context: ToolContext, work: WorkContext
) -> Iterator[tuple[str, int, str]]:
    """Yield (path, line number, line) of each line that matches."""
    for path in files_in(top, context, work):
        if glob is not None and not _meant(glob, os.path.relpath(path, top)):
            continue
        try:
            fd = open_regular(path, context.faults)
        except (OSError, ToolFailedError):
            continue  # as ripgrep does: one unreadable file does not end a search
        with os.fdopen(fd, "rb") as stream:
            data = stream.read(MAX_SEARCHED_BYTES)
        if b"\0" in data[:8192]:
            continue
        for number, line in enumerate(data.split(b"\n"), start=1):
            if pattern.search(line[:MAX_LINE_BYTES]):
                yield path, number, line[:500].decode("utf-8", "replace").rstrip("\r")


def _meant(glob: str, name: str) -> bool:
    return glob_matches(glob if "/" in glob else f"**/{glob}", name)
