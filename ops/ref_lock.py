"""A lock of git's on a ref: whether the git that took it will ever give it back.

The file does not say whose it is, and another user's git is as good an owner as ours.  So it is
never taken away, only told of once it is older than any git at work needs it.
"""

from __future__ import annotations

import os
import re
import time

OLD_S = 10.0
"""git holds it while it writes one line; what stands here longer stood still before we came."""

IN_THE_WAY = re.compile(r"Unable to create '(.+\.lock)': File exists")
"""How git names it."""


def left_lock(said: str) -> str | None:
    """Return for people what is in the way, if git ``said`` that it is an old lock.

    One that is younger, or not to be seen from here, may go at any moment.
    """
    named = IN_THE_WAY.search(said)
    if named is None:
        return None
    try:
        age_s = time.time() - os.lstat(named.group(1)).st_mtime
    except OSError:
        return None
    if age_s < OLD_S:
        return None
    hint = "a git that died has left it, it seems: remove it if no git works in this repository"
    return f"{named.group(1)} is in the way, {age_s:.0f} s old; {hint}"


def left_at_remote(path: str, seconds: float) -> str:
    """Return for people that a lock at the remote was in the way for so long, and nothing moved."""
    hint = "a git that died has left it, it seems: remove it if no git works in that repository"
    return f"{path} is in the remote's way, and was for {seconds:.0f} s; {hint}"
