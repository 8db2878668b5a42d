"""Finding a project's declaration files: in a stable order, links are not followed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ops.findings import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIPPED = frozenset({"node_modules", "dist", ".venv"})
"""Folders that hold copies of other people's files; dot folders are skipped too."""

MAX_FILES = 10_000
"""More than this is a wrong folder (someone's home); stopping is better than walking on."""


def walk_files(root: str, suffixes: tuple[str, ...], problems: list[Problem]) -> Iterator[str]:
    """Yield the files below ``root`` that end so, relative to it.

    What could not be looked at is added to ``problems``.
    """
    count = 0

    def unreadable(error: OSError) -> None:
        folder = os.path.relpath(error.filename, root)
        problems.append(Problem(folder, 1, f"can't be looked at: {error.strerror}"))

    for folder, folders, files in os.walk(root, onerror=unreadable):
        folders[:] = sorted(each for each in folders if each[0] != "." and each not in SKIPPED)
        for name in sorted(each for each in files if each.endswith(suffixes)):
            if count == MAX_FILES:
                reason = f"more than {MAX_FILES} files end in {suffixes[0]}; the rest is left"
                problems.append(Problem(".", 1, reason))
                return
            count += 1
            yield os.path.relpath(os.path.join(folder, name), root)
