"""The reader `file`."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from ops.resources.hashing import MAX_BYTES, Limit, sha256_of
from ops.resources.reader import ABSENT, Observation, present, unobserved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Look


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    path = os.path.join(look.root, keys["path"])
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    if not stat.S_ISREG(found.st_mode):
        return unobserved(f"{keys['path']} is not a regular file")
    if found.st_size > MAX_BYTES:
        return unobserved(f"{keys['path']} is larger than {MAX_BYTES} bytes")
    digest = sha256_of(path, Limit(look))
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    return present(bytes=found.st_size, sha256=digest, mode=mode)
