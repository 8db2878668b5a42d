"""When each step of a run ran, from its record.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runtimes.chant.runs_shown import run_duration_ms

if TYPE_CHECKING:
    from collections.abc import Mapping

NICE = (1, 2, 5)
MAX_TICKS = 7


@dataclass(frozen=True, slots=True)
class Bar:
    """One step; times are milliseconds since the run began.  ``start_ms`` None: it never ran."""

    step: Mapping[str, Any]
    start_ms: int | None
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Lane:
    """One phase and its steps."""

    name: str
    status: str
    on_failure: bool
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All phases of a run; ``total_ms`` is at least 1."""

    lanes: tuple[Lane, ...]
    total_ms: int

    def share(self, milliseconds: int) -> float:
        """Return how far along the run a moment is, in percent."""
        return min(max(100 * milliseconds / self.total_ms, 0.0), 100.0)

    @property
    def ticks(self) -> tuple[int, ...]:
        """Round moments along the run, the first is 0."""
        return tuple(range(0, self.total_ms + 1, _tick_ms(self.total_ms)))


def timeline(record: Mapping[str, Any]) -> Timeline:
    """Return the phases of a run with what is known of their times."""
    lanes: list[Lane] = []
    now_ms = 0
    for phase in record.get("phases") or ():
        bars = tuple(_bar(step, now_ms) for step in phase["steps"])
        ends = [bar.start_ms + bar.duration_ms for bar in bars if bar.start_ms is not None]
        now_ms = max([now_ms, *ends])
        shown = str(phase["name"]), str(phase["status"]), bool(phase.get("on_failure"))
        lanes.append(Lane(*shown, bars))
    return Timeline(tuple(lanes), max(run_duration_ms(record) or 0, now_ms, 1))


def _bar(step: Mapping[str, Any], now_ms: int) -> Bar:
    """Return a step's bar; a record of an older version does not say when it started."""
    duration_ms = int(step.get("duration_ms") or 0)
    if not step.get("attempts") and not duration_ms:
        return Bar(step, None, 0)
    start_ms = step.get("start_ms")
    return Bar(step, now_ms if start_ms is None else int(start_ms), duration_ms)


def _tick_ms(total_ms: int) -> int:
    """Return the smallest round distance that needs no more than a few ticks."""
    power = 1
    while True:
        for nice in NICE:
            if total_ms // (nice * power) < MAX_TICKS:
                return nice * power
        power *= 10
