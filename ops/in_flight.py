"""Notes of the runs that are going on, so that a run whose process dies is never silently absent.

A note lies below the git directory, with the number and the start time of its process.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

from ops.disk import THE_DISK
from ops.errors import LedgerError
from ops.faults import BEFORE_FSYNC, Faults, NoFaults
from ops.json_in import read_json
from ops.processes import is_same, start_time
from ops.record import interrupted_record
from ops.whole_file import whole_file
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ops.disk import Disk
    from ops.git import Stopping
    from ops.ledger import Ledger

SUFFIX = ".json"
OVER_SUFFIX = ".over.json"
"""A note that there was no room to write anew: its run is over, and nobody knows how it went."""
CANCEL_SUFFIX = ".cancel"
"""Beside a note: someone asks its run to stop.  The run's own process looks for it, since only that
one can clean up."""

WATCH_S = 0.5
"""How often it looks."""

Wish: TypeAlias = Literal["cancel", "hard_stop"]


class Machine(NamedTuple):
    """Where notes lie, who writes them, and who still lives; a simulation has its own."""

    disk: Disk = THE_DISK
    pid: Callable[[], int] = os.getpid
    """Of this process, which may fork."""
    started: Callable[[int], str | None] = start_time
    """When a process was started, None where it is gone."""


HERE = Machine()


@dataclass(frozen=True, slots=True)
class Marker:
    """The note of one run."""

    path: str
    record: Mapping[str, Any]
    """The run's record as it was at the start."""
    faults: Faults = field(default_factory=NoFaults, repr=False, compare=False)
    machine: Machine = field(default=HERE, repr=False, compare=False)

    def mark_compensation(self) -> None:
        """Note that clean-up begins; on disk when this returns."""
        self.put(self.record, compensating=True)

    def keep(self, record: Mapping[str, Any]) -> bool:
        """Put the run's last word, which the ledger could not take, into the note.

        The next run brings it into the ledger.  False: there is no room even for that; the note
        then tells by its name, which needs none, that the run is over.
        """
        disk, over = self.machine.disk, over_path(self.path)
        try:
            self.put(record, compensating=False)
        except OSError:
            with contextlib.suppress(OSError):  # read-only: it is over when its process is gone
                disk.rename(self.path, over)
                disk.remove(cancel_path(self.path))
            return False
        disk.remove(over)
        return True

    def put(self, record: Mapping[str, Any], *, compensating: bool) -> None:
        """Write the note; on disk when this returns."""
        disk, pid = self.machine.disk, self.machine.pid()
        note = note_of(record, pid, self.machine.started(pid), compensating=compensating)
        folder, name = os.path.split(self.path)
        # No repository where there is none any more: something called ``.git`` with nothing but
        # notes in it would be in the way when the real one, or the project, is moved back.
        disk.make_folder(os.path.dirname(folder))
        disk.make_folder(folder)
        with whole_file(self.path, faults=self.faults, disk=disk) as stream:
            stream.write(json.dumps(note).encode())
            self.faults.at(BEFORE_FSYNC.name, name)
            disk.force(stream)
        self.faults.at(BEFORE_FSYNC.name, os.path.basename(folder))
        disk.force_names(folder)

    def end(self) -> None:
        """Take the note away: the run is in the ledger.  Safe to call twice."""
        for path in (self.path, over_path(self.path), cancel_path(self.path)):
            self.machine.disk.remove(path)

    def wait_for_wish(self, stop: Waiting, heard: Wish | None) -> Wish | None:
        """Wait until someone asks the run to stop, in another way than ``heard``.

        Returns None as soon as ``stop`` is set.
        """
        while not stop.wait(WATCH_S):
            wish = _read_wish(self.machine.disk, cancel_path(self.path))
            if wish is not None and wish != heard:
                return wish
        return None


class Waiting(Protocol):
    """A token that a waiting thread is woken by."""

    def wait(self, timeout_s: float, /) -> bool:
        """Sleep up to ``timeout_s`` seconds; True as soon as it was set."""
        ...


@dataclass(frozen=True, slots=True)
class Living:
    """A run that goes on: its record as it was at the start, and the process it goes on in."""

    path: str
    record: Mapping[str, Any]
    host: str
    pid: int
    compensating: bool
    disk: Disk = field(default=THE_DISK, repr=False, compare=False)

    def ask(self, wish: Wish) -> None:
        """Ask the run to stop; on disk when this returns."""
        with whole_file(cancel_path(self.path), disk=self.disk) as stream:
            stream.write(json.dumps({"wish": wish}).encode())

    @property
    def goes_on(self) -> bool:
        """Whether the note is still there."""
        return self.disk.read(self.path) is not None


@dataclass(frozen=True, slots=True)
class InFlight:
    """The notes below ``state_dir`` (see `ops.ledger.Ledger`)."""

    state_dir: str
    faults: Faults = field(default_factory=NoFaults, repr=False, compare=False)
    machine: Machine = field(default=HERE, repr=False, compare=False)

    def begin(self, record: Mapping[str, Any]) -> Marker:
        """Note a run that begins; on disk when this returns."""
        path = os.path.join(self._folder, f"{record['id']}{SUFFIX}")
        marker = Marker(path, record, self.faults, self.machine)
        marker.put(record, compensating=False)
        return marker

    def abandoned(self) -> Iterator[tuple[Marker, bool]]:
        """Yield the notes of runs that are over, oldest first, and whether clean-up had begun."""
        for path, note in self._notes():
            if not goes_on(note, self.machine.started):
                marker = Marker(path, note["record"], self.faults, self.machine)
                yield marker, bool(note["compensating"])

    def living(self) -> Iterator[Living]:
        """Yield the runs whose process lives, oldest first; another machine's are believed."""
        for path, note in self._notes():
            if goes_on(note, self.machine.started):
                where = note["host"], int(note["pid"])
                compensating = bool(note["compensating"])
                yield Living(path, note["record"], *where, compensating, self.machine.disk)

    def unrecorded(self, env: str) -> Iterator[Mapping[str, Any]]:
        """Yield the runs of an environment that are over and that the next run brings in.

        Oldest first, as they will be recorded; when one was interrupted nobody knows, so it has no
        end here.
        """
        for marker, compensating in self.abandoned():
            record = marker.record
            if record.get("ended") is None:
                record = {
                    **interrupted_record(record, 0.0, compensating=compensating),
                    "ended": None,
                }
            if record.get("env") == env:
                yield record

    def _notes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        disk, folder = self.machine.disk, self._folder
        for name in disk.names(folder):
            path = os.path.join(folder, name)
            note = _read(disk, path) if name.endswith(SUFFIX) else None
            if note is not None:
                yield path, {**note, "over": name.endswith(OVER_SUFFIX)}

    @property
    def _folder(self) -> str:
        return os.path.join(self.state_dir, "runs")


def settle_interrupted(
    ledger: Ledger,
    wall_s: float,
    notes: Iterable[tuple[Marker, bool]] | None = None,
    stop: Stopping | None = None,
) -> tuple[Mapping[str, Any], ...]:
    """Record every run that is over and not in the ledger; return the new records.

    One whose process is gone was interrupted; one whose record was kept ended as that says.
    ``notes`` are what `InFlight.abandoned` yields, which is asked where they are None.
    All are pushed together, so a remote that hears nothing is waited for once, and after ``stop``
    only shortly.

    Two that do this at once record each run once: the ledger takes an id only once.

    Raises:
        LedgerError: The ledger could not be written; the notes stay.

    """
    settled: list[Mapping[str, Any]] = []
    over: list[Marker] = []
    if notes is None:
        notes = InFlight(ledger.state_dir).abandoned()
    for marker, compensating in notes:
        record = marker.record
        if record.get("ended") is None:
            record = interrupted_record(record, wall_s, compensating=compensating)
        try:
            commit = ledger.write_run(record)
        except LedgerError as error:
            raise _first(marker, error) from error
        over.append(marker)
        if commit is not None:
            settled.append(record)
    if over:
        try:
            ledger.publish(stop)
        except LedgerError as error:
            raise _first(over[0], error) from error
    for marker in over:
        marker.end()
    return tuple(settled)


def _first(marker: Marker, error: LedgerError) -> LedgerError:
    run_id = marker.record["id"]
    return LedgerError(f"run {run_id}, which is over, must be recorded first: {error.message}")


def over_path(note_path: str) -> str:
    """Return what a note is called that could not be written anew."""
    return note_path.removesuffix(OVER_SUFFIX).removesuffix(SUFFIX) + OVER_SUFFIX


def cancel_path(note_path: str) -> str:
    """Return where a wish to stop the run of a note lies."""
    return note_path.removesuffix(SUFFIX) + CANCEL_SUFFIX


def _read_wish(disk: Disk, path: str) -> Wish | None:
    try:
        text = disk.read(path)
    except OSError:
        return None
    if text is None:
        return None
    return "hard_stop" if b"hard_stop" in text else "cancel"


def note_of(
    record: Mapping[str, Any], pid: int, started: str | None, *, compensating: bool
) -> dict[str, Any]:
    """Return the note of a run that goes on in process ``pid``, which was started then."""
    return {
        "host": os.uname().nodename,
        "pid": pid,
        "start_time": started,
        "compensating": compensating,
        "record": record,
    }


def _read(disk: Disk, path: str) -> dict[str, Any] | None:
    """Return a note; None for what is gone meanwhile or is no note of ours."""
    try:
        note = read_json(disk.read(path) or b"")
    except (OSError, ValueError):
        return None
    if not isinstance(note, dict):
        return None
    table = cast("dict[str, Any]", note)
    record: Any = table.get("record")
    whole = {"host", "pid", "start_time", "compensating"} <= table.keys()
    return table if whole and isinstance(record, dict) and "id" in record else None


def goes_on(note: Mapping[str, Any], started: Callable[[int], str | None] = start_time) -> bool:
    """Tell whether a note's run goes on; one of another machine gets the benefit.

    ``started`` tells when a process was started, None where it is gone.
    """
    if note.get("over") or note["record"].get("ended") is not None:
        return False
    if note["host"] != os.uname().nodename:
        return True
    return is_same(note["start_time"], started(int(note["pid"])))
