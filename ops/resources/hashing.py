"""Digests of files, ended by a cancel or by the look's time."""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ops.resources.reader import Look

MAX_BYTES = 1024**3
"""Of one file or folder.  What is larger is no configuration, and takes seconds to read."""

PIECE_BYTES = 1024 * 1024


class Limit:
    """Ends a look at many bytes or files: when it is cancelled, or its time is over."""

    def __init__(self, look: Look) -> None:
        """Begin the look's time now."""
        self._look = look
        self._give_up_s = time.monotonic() + look.timeout_s

    def check(self, path: str) -> None:
        """Go on with ``path``.

        Raises:
            ValueError: Not any more.

        """
        if self._look.cancel.is_set() or time.monotonic() > self._give_up_s:
            msg = f"{path} was not read within {self._look.timeout_s:g} s"
            raise ValueError(msg)


def sha256_of(path: str, limit: Limit) -> str:
    """Return the hex digest of a file.

    Raises:
        OSError: It can't be read.
        ValueError: Stopped, out of time, or what it holds is still to come, as in /proc/kmsg.

    """
    summed = hashlib.sha256()
    with open(path, "rb", buffering=0, opener=_without_waiting) as stream:
        while piece := stream.read(PIECE_BYTES):
            summed.update(piece)
            limit.check(path)
    if piece is None:
        msg = f"{path} can't be read without waiting"
        raise ValueError(msg)
    return summed.hexdigest()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
