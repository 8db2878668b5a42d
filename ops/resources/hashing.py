"""Digests of files, ended by a cancel or by the look's time."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ops.resources.reader import Look

MAX_BYTES = 1024**3
"""Of one file or folder.  What is larger is no configuration, and takes seconds to read."""

PIECE_BYTES = 1024 * 1024


def sha256_of(path: str, look: Look) -> str:
    """Return the hex digest of a file.

    Raises:
        OSError: It can't be read.
        ValueError: Stopped, or the look's time is over.

    """
    give_up_s = time.monotonic() + look.timeout_s
    summed = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(PIECE_BYTES):
            summed.update(piece)
            if look.cancel.is_set() or time.monotonic() > give_up_s:
                msg = f"{path} was not read within {look.timeout_s:g} s"
                raise ValueError(msg)
    return summed.hexdigest()
