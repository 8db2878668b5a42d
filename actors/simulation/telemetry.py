"""Hears the actors of a world: into the trace, and into the book where a rule counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.server_tree import RESTARTS

if TYPE_CHECKING:
    from actors.simulation.book import Book
    from actors.simulation.scheduler import Scheduler


class SimTelemetry:
    """See `actors.telemetry.Telemetry`."""

    def __init__(self, scheduler: Scheduler, book: Book) -> None:
        """Belong to one world."""
        self._scheduler = scheduler
        self._book = book
        self._restarts: dict[str, list[float]] = {}
        self.counts: dict[str, int] = {}
        """How often each kind of event came."""

    def event(self, kind: str, actor: str, **facts: Any) -> None:
        """Take one event."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        why = f": {facts['reason']!r:.120}" if facts.get("reason") is not None else ""
        self._scheduler.trace.event(f"{actor} {kind.replace('_', ' ')}{why}")
        if kind == "restarted":
            self._restarted(actor, facts["generation"])

    def _restarted(self, actor: str, generation: int) -> None:
        now = self._scheduler.now
        limit, window_s = RESTARTS
        # A supervisor that is new itself counts from the beginning.
        times = self._restarts.setdefault(actor, []) if generation > 2 else []  # noqa: PLR2004
        times[:] = [at for at in times if now - at <= window_s]
        times.append(now)
        self._restarts[actor] = times
        if len(times) > limit:
            self._book.violated("restarts", f"{actor} was restarted {len(times)} times")
