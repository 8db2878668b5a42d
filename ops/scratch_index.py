"""An index for git that nobody else sees, for the making of one commit.

It lies in the ledger's state folder, so that what a killed process has left is found and removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

PREFIX = "chant-index-"
LEFT_S = 3600.0
"""No commit takes that long: it is a handful of git's calls, each with a limit of a minute."""


@contextmanager
def scratch_index(state_dir: str) -> Generator[dict[str, str]]:
    """Give the variables that lead git to it; without ``state_dir`` it lies among temporary files.

    Raises:
        OSError: It can't be made.

    """
    place = state_dir if os.path.isdir(state_dir) else None
    if place is not None:
        _remove_left(place)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place) as folder:
        yield {"GIT_INDEX_FILE": os.path.join(folder, "index")}


def _remove_left(place: str) -> None:
    """Remove what lies there for longer than its maker can have lived."""
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if not entry.name.startswith(PREFIX):
                continue
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFT_S:
                shutil.rmtree(entry.path, ignore_errors=True)
