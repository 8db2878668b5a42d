"""Named points of the Ops' own files and of git where a fault may be injected.

The same shape as `actors.faults`, which the Ops do not know; one plan serves both.
"""

from __future__ import annotations

from typing import Literal, Protocol

from protocol.named_tuple import NamedTuple


class Point(NamedTuple):
    """A place in the code: what is about to happen there, and which faults it supports."""

    name: str
    about: str
    can: tuple[Literal["crash", "delay", "error", "stall", "exit"], ...]


ON_DISK: tuple[Literal["crash", "delay", "error", "stall", "exit"], ...] = (
    "error",
    "crash",
    "delay",
    "stall",
    "exit",
)

BEFORE_GIT = Point("ledger.git", "git is about to run; who: update-ref, push, and so on", ON_DISK)
BEFORE_LOCK = Point("ledger.lock", "the writers of one machine are about to queue up", ON_DISK)
BEFORE_RETRY = Point(
    "ledger.retry",
    "a change of the ledger lost a race and is about to wait for its next try",
    ("crash", "delay", "stall", "exit"),
)
BEFORE_WRITE = Point("file.write", "a file is about to be written beside its place", ON_DISK)
BEFORE_FSYNC = Point("file.fsync", "a written file is about to be forced to the disk", ON_DISK)
BEFORE_RENAME = Point("file.rename", "a written file is about to take its place", ON_DISK)

POINTS = (BEFORE_GIT, BEFORE_LOCK, BEFORE_RETRY, BEFORE_WRITE, BEFORE_FSYNC, BEFORE_RENAME)
"""Every point of the Ops."""


class Faults(Protocol):
    """Consulted at each point."""

    def at(self, name: str, who: str = "") -> object:
        """Pass, or do what the plan says for the point ``name``: raise or wait."""
        ...


class NoFaults:
    """The default: nothing ever goes wrong on purpose."""

    def at(self, name: str, who: str = "") -> object:
        """Do nothing."""
