"""Named points where a fault may be injected.

Code that waits, writes or starts something calls ``faults.at(POINT)`` first.  The default does
nothing; a fault plan (`actors.planned_faults`) puts another object in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FaultKind: TypeAlias = Literal[
    "crash", "delay", "drop", "duplicate", "error", "stall", "exit", "late", "garbage", "cut"
]
Verdict: TypeAlias = Literal["pass", "drop", "duplicate"]
"""What the caller at a point must do itself; everything else happens inside of `Faults.at`."""

AT_ANY_POINT: tuple[FaultKind, ...] = ("crash", "delay", "stall", "exit")
"""What each point supports that does not say otherwise."""
WITH_ERROR: tuple[FaultKind, ...] = ("error", *AT_ANY_POINT)
"""What a point supports where the system itself may refuse."""


class Point(NamedTuple):
    """A place in the code: what is about to happen there, and which faults it supports."""

    name: str
    about: str
    can: tuple[FaultKind, ...]


POINTS: dict[str, Point] = {}
"""Every point of the modules imported so far; see `runtimes.fault_points` for all of them."""


def point(name: str, about: str, can: tuple[FaultKind, ...] = AT_ANY_POINT) -> str:
    """Declare a point.  The same name twice is a mistake of ours."""
    if name in POINTS:
        message = f"fault point {name!r} is declared twice"
        raise ValueError(message)
    POINTS[name] = Point(name, about, can)
    return name


class Faults(Protocol):
    """Consulted at each point."""

    def at(self, name: str, who: str = "") -> Verdict:
        """Pass, or do what the plan says for the point ``name``: raise, wait, count.

        ``who`` names the actor, step or thread that has come to the point.  A point that does not
        support ``drop`` and ``duplicate`` never gets these verdicts and may ignore the result.
        """
        ...

    def lines(self, frames: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        """Yield what goes to the client in place of ``frames``, as it may go; may wait."""
        ...


class NoFaults:
    """The default: nothing ever goes wrong on purpose."""

    def at(self, name: str, who: str = "") -> Verdict:
        """Do nothing."""
        del name, who
        return "pass"

    def lines(self, frames: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
        """Change nothing."""
        return (frames,)
