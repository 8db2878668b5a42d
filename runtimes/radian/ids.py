"""Ids of sessions: what they may look like, and how new ones are made.  Pure."""

from __future__ import annotations

import re

from runtimes.radian.session_errors import BadSessionId

# An id is a file's name and part of command lines: no separators, no leading dash or dot.
_SESSION_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"


def check_session_id(text: str) -> str:
    """Return ``text`` if it can be the id of a session.

    Raises:
        BadSessionId: It can't.

    """
    if re.fullmatch(_SESSION_ID, text) is None:
        raise BadSessionId(text)
    return text


def new_session_id(wall_s: float, entropy: bytes) -> str:
    """Make a UUID of version 7 from epoch seconds and 10 random bytes, as text.

    Ids sort by the time they were made (RFC 9562, section 5.7).
    """
    milliseconds = int(wall_s * 1000) & (1 << 48) - 1
    random = int.from_bytes(entropy[:10], "big")
    high, low = random >> 62 & 0xFFF, random & (1 << 62) - 1
    number = milliseconds << 80 | 7 << 76 | high << 64 | 2 << 62 | low
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
