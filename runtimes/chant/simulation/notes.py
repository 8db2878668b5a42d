"""Notes of runs in flight on a simulated disk; what they say and mean is `ops.in_flight`'s."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ops.in_flight import Marker, goes_on, note_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from actors.simulation.disk import SimDisk

FOLDER = "in-flight"
PID = 7
"""Of every server: a machine that was started again gives the numbers out anew."""


def note_path(run_id: str) -> str:
    """Return where the note of a run is."""
    return f"{FOLDER}/{run_id}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimMarker(Marker):
    """The note of one run of the ``server``-th server."""

    disk: SimDisk
    server: int

    def put(self, record: Mapping[str, Any], *, compensating: bool) -> None:
        """Write the note."""
        note = note_of(record, PID, str(self.server), compensating=compensating)
        self.disk.replace(self.path, json.dumps(note).encode())

    def end(self) -> None:
        """Take the note away."""
        self.disk.remove(self.path)


def begin(disk: SimDisk, server: int, record: Mapping[str, Any]) -> SimMarker:
    """Make the mark of a run, whose note is still to be put."""
    return SimMarker(note_path(str(record["id"])), record, disk=disk, server=server)


def abandoned(disk: SimDisk, server: int) -> Iterator[tuple[SimMarker, bool]]:
    """Yield the notes of runs that are over while ``server`` lives, as `InFlight.abandoned`."""
    for path in disk.paths(FOLDER):
        note = _read(disk.read(path)) if path.endswith(".json") else None
        if note is not None and not goes_on(note, lambda _pid: str(server)):
            yield begin(disk, server, note["record"]), bool(note["compensating"])


def _read(content: bytes | None) -> dict[str, Any] | None:
    try:
        note: dict[str, Any] = json.loads(content or b"")
    except ValueError:
        return None  # a note that is being written
    return note
