r"""Lone surrogate escapes (``\ud800``) in JSON text, replaced.  Loaded when a line has one."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"""\\(?:
        u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}   # a pair: stays
      | (?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})
      | .                                                          # any other escape: stays
    )""",
    re.VERBOSE | re.DOTALL,
)


def replace_lone_escapes(line: bytes | bytearray | memoryview) -> bytes | None:
    r"""Replace each lone escape by ``\ufffd``; None if ``line`` has none."""
    replaced = 0

    def replacement(match: re.Match[bytes]) -> bytes:
        nonlocal replaced
        if match["lone"] is None:
            return match[0]
        replaced += 1
        return rb"\ufffd"

    repaired = _ESCAPE.sub(replacement, line)
    return repaired if replaced else None
