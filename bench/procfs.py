"""What a process and its descendants use, read from /proc."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

KIB = 1024


@dataclass(frozen=True, slots=True)
class Footprint:
    """Sums over a process and its descendants; sizes in bytes."""

    rss: int
    pss: int
    peak_rss: int
    """Sum of the highest RSS that each of them ever had (VmHWM)."""
    fds: int
    threads: int
    processes: int


def descendants(pid: int) -> list[int]:
    """Return the living descendants of ``pid``, parents first."""
    found: list[int] = []
    for child in _children(pid):
        found += [child, *descendants(child)]
    return found


def _children(pid: int) -> list[int]:
    """Return the children of all threads of ``pid``; any of them may end while we look."""
    found: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for task in tasks:
        try:
            found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
        except OSError:
            continue
    return found


def footprint(pid: int, *, tree: bool = True) -> Footprint:
    """Measure ``pid``, by default with its descendants."""
    parts = [_one(one) for one in (pid, *(descendants(pid) if tree else ()))]
    alive = [part for part in parts if part is not None]
    return Footprint(
        rss=sum(part.rss for part in alive),
        pss=sum(part.pss for part in alive),
        peak_rss=sum(part.peak_rss for part in alive),
        fds=sum(part.fds for part in alive),
        threads=sum(part.threads for part in alive),
        processes=len(alive),
    )


def cpu_s(pid: int) -> float:
    """Return the CPU time that ``pid`` has used, ended threads included, in seconds.

    Linux makes the number of a process's CPU clock from its id; /proc/PID/stat counts in 10 ms.
    """
    return time.clock_gettime((~pid << 3) | 2)


def tree_cpu_s(pid: int) -> float:
    """Return the CPU time of ``pid`` and of its living descendants, in seconds."""
    return sum(cpu_s(each) for each in (pid, *descendants(pid)))


def peak_rss(pid: int) -> int:
    """Return the highest RSS so far of ``pid`` and its living descendants, added up, in bytes.

    Cheap enough to ask again and again.  (`ru_maxrss` begins with what the parent had at the fork.)
    """
    peaks = 0
    for each in (pid, *descendants(pid)):
        try:
            peaks += _sizes(Path(f"/proc/{each}/status")).get("VmHWM", 0) * KIB
        except OSError:
            continue
    return peaks


def _one(pid: int) -> Footprint | None:
    """Measure one process; None if it has ended meanwhile."""
    try:
        status = _sizes(Path(f"/proc/{pid}/status"))
        return Footprint(
            rss=status["VmRSS"] * KIB,
            pss=_sizes(Path(f"/proc/{pid}/smaps_rollup"))["Pss"] * KIB,
            peak_rss=status["VmHWM"] * KIB,
            fds=len(os.listdir(f"/proc/{pid}/fd")),
            threads=status["Threads"],
            processes=1,
        )
    except (OSError, KeyError):
        return None


def _sizes(path: Path) -> dict[str, int]:
    """Read the lines ``Name: 123 …`` of a /proc file."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}
