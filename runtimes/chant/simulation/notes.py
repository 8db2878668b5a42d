"""Notes of runs in flight on a simulated disk; see `ops.in_flight`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from actors.simulation.disk import SimDisk

FOLDER = "in-flight"


def note_path(run_id: str) -> str:
    """Return where the note of a run is."""
    return f"{FOLDER}/{run_id}.json"


@dataclass(frozen=True, slots=True)
class SimMarker:
    """See `ops.in_flight.Marker`."""

    disk: SimDisk
    process: int
    record: Mapping[str, Any]

    def mark_compensation(self) -> None:
        """Note that clean-up begins."""
        self.write(compensating=True)

    def end(self) -> None:
        """Take the note away."""
        self.disk.remove(self._path)

    def write(self, *, compensating: bool) -> None:
        """Write the note."""
        note = {"process": self.process, "compensating": compensating, "record": self.record}
        self.disk.replace(self._path, json.dumps(note).encode())

    @property
    def _path(self) -> str:
        return note_path(str(self.record["id"]))


def abandoned(disk: SimDisk, process: int) -> Iterator[tuple[SimMarker, bool]]:
    """Yield the notes of other processes than ``process``, and whether clean-up had begun."""
    for path in disk.paths(FOLDER):
        note = _read(disk.read(path)) if path.endswith(".json") else None
        if note is not None and note["process"] != process:
            yield SimMarker(disk, note["process"], note["record"]), bool(note["compensating"])


def _read(content: bytes | None) -> dict[str, Any] | None:
    try:
        note: dict[str, Any] = json.loads(content or b"")
    except ValueError:
        return None  # a note that is being written
    return note
