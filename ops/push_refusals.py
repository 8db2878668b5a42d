"""What a refused push tells of the remote: others were faster, or time won't mend it.  Pure."""

from __future__ import annotations

import re

from ops.taken_name import taken_name
from protocol.named_tuple import NamedTuple

BEHIND = (
    "fetch first",
    "non-fast-forward",
    "stale info",
    "cannot lock ref",
    "failed to update ref",
    "reference already exists",
)
"""What git says when the remote's branch has moved, or is just being moved, by someone else."""

LOCK = re.compile(r"Unable to create '([^'\n]+\.lock)': (.+)")
HELD = "File exists"


class Refusal(NamedTuple):
    """Whether another try may help, and which lock of the remote's was in the way, if one was."""

    passing: bool
    lock: str | None = None
    hint: str = ""
    """What people can do where no try helps."""


def judge(said: str) -> Refusal:
    """Judge what git ``said`` of a push that failed."""
    if taken := taken_name(said):
        return Refusal(passing=False, hint=f"at the remote {taken}")
    if lock := LOCK.search(said):
        path, why = lock.groups()
        held = why.startswith(HELD)
        return Refusal(passing=held, lock=path if held else None)
    return Refusal(passing=any(sign in said for sign in BEHIND))
