"""Trying until something is ready: bounded in time, and ended at once by an abort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ops.counts import counted
from ops.errors import ActivityFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.work import WorkContext

    Probe: TypeAlias = Callable[[WorkContext], str | None]
    """Returns None when it is ready, else the reason why not."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on: until ``tries`` are used up or ``timeout_s`` is over; None: no limit."""

    interval_s: float
    tries: int | None = None
    timeout_s: float | None = None


def poll(work: WorkContext, what: str, probe: Probe, patience: Patience) -> int:
    """Probe until it is ready and return the number of tries; say each new reason on stderr.

    Raises:
        ActivityFailed: Out of patience, or the step was aborted.

    """
    began_s, tries, said = work.monotonic(), 0, ""
    while True:
        why, tries = probe(work), tries + 1
        if why is None:
            return tries
        if why != said and not work.cancel.is_set():
            work.emit("stderr", f"{what}: {why}\n")
            said = why
        waited_s = work.monotonic() - began_s
        over = patience.timeout_s is not None and waited_s >= patience.timeout_s
        if over or tries == patience.tries:
            msg = f"{what}: {why} ({counted(tries, 'attempt')} in {waited_s:.1f} s)"
            raise ActivityFailed(msg)
        if work.cancel.wait(patience.interval_s):
            msg = f"{what}: stopped while {why}"
            raise ActivityFailed(msg)
