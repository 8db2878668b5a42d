"""Named points where a fault may be injected.

Code that waits, writes or starts something calls ``faults.at(POINT)`` first.  The default does
nothing; a fault plan puts another object in its place (DESIGN section 8).
"""

from __future__ import annotations

from typing import Protocol

POINTS: dict[str, str] = {}
"""Every point and one line about it; filled by `point`, printed by the command line."""


def point(name: str, about: str) -> str:
    """Declare a point.  The same name twice is a mistake of ours."""
    if name in POINTS:
        message = f"fault point {name!r} is declared twice"
        raise ValueError(message)
    POINTS[name] = about
    return name


class Faults(Protocol):
    """Consulted at each point."""

    def at(self, name: str) -> None:
        """Pass, or do what the plan says for the point ``name``: raise, wait, count."""
        ...


class NoFaults:
    """The default: nothing ever goes wrong on purpose."""

    def at(self, name: str) -> None:
        """Do nothing."""
