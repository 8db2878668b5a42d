"""Reading a journal: what is whole is used, what is odd is told, what is damaged is refused.

Pure but for `read_journal`.  Never writes; a torn last line is repaired by whoever opens the
journal to write (`journal`).
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import field
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

import orjson

from ops.plain_file import plain
from protocol.named_tuple import NamedTuple
from protocol.values import frozen, slotted
from runtimes.radian.record_json import OddRecord, UnknownRecord, from_table
from runtimes.radian.records import FORMAT, Entry, SessionCreated, TurnStarted
from runtimes.radian.session_errors import JournalDamaged, JournalNewer

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

NO_SESSION = "a journal begins with the record SessionCreated"


@frozen
class Loaded:
    """What a journal holds, as far as it can be used.

    ``whole`` counts its bytes without a torn last line; a line that only lacks its newline is
    not torn (``unended``).  ``last_seq`` is the highest number that any record has.
    """

    session: SessionCreated
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...]
    last_seq: int
    whole: int
    unended: bool = False

    @property
    def last_turn(self) -> int:
        """The number of the last turn that began, 0 before the first."""
        records = (entry.record for entry in self.entries)
        return max((each.turn for each in records if isinstance(each, TurnStarted)), default=0)


def read_journal(path: str) -> Loaded:
    """Read the journal at ``path``, whoever writes it meanwhile.

    Raises:
        SessionError: It is damaged, or of a newer format.
        OSError: It can't be read.

    """
    with open(path, "rb", opener=plain) as stream:
        return load(stream.read(), path)


def load(data: bytes, path: str) -> Loaded:
    """Return what the bytes of the journal at ``path`` hold.

    Raises:
        JournalDamaged: A line in the middle is no record, or the first one does not begin a
            session; names the line.
        JournalNewer: A newer version wrote it.

    """
    loading = _Loading(path)
    with no_collection():
        for line in lines(data):
            loading.take(line)
    return loading.loaded(data)


@contextmanager
def no_collection() -> Generator[None]:
    """Keep the garbage collector away while many objects are made that all stay.

    It would walk all of them again and again: half of the time that 100 MB take.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def numbered(data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a journal that loads, whatever their type, by their numbers.

    One without a number stands under the number before it, as in `load`.
    """
    highest = 0
    for line in lines(data):
        if line.table is None:
            return
        seq = line.table.get("seq")
        seq = seq if type(seq) is int else highest
        highest = max(highest, seq)
        yield seq, line.table


# --- lines


class Line(NamedTuple):
    """One line: its number from 1, where it begins, and its object; None: it is none."""

    number: int
    start: int
    table: dict[str, Any] | None


def lines(data: bytes) -> Iterator[Line]:
    """Yield the lines of a journal that are not blank."""
    start = 0
    for number, line in enumerate(BytesIO(data), start=1):
        table = _table(line)
        if table is not None or line.strip():
            yield Line(number, start, table)
        start += len(line)


def _table(line: bytes) -> dict[str, Any] | None:
    try:
        value: Any = orjson.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if type(value) is dict else None


# --- records


@slotted
class _Loading:
    """Takes line after line."""

    path: str
    entries: list[Entry] = field(default_factory=list[Entry])
    warnings: list[str] = field(default_factory=list[str])
    odd: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """What is wrong with records that are passed over: the lines they are in."""
    bad: Line | None = None
    """A line that is no object, as long as none comes after it."""
    highest: int = 0

    def take(self, line: Line) -> None:
        """Add a line."""
        if self.bad is not None:
            raise JournalDamaged(self.path, self.bad.number, "is no record")
        if line.table is None:
            self.bad = line
            return
        if line.table.get("v") != FORMAT:
            self._check_format(line.number, line.table)
        seq = line.table.get("seq")
        if type(seq) is int and seq == self.highest + 1:
            self.highest = seq
        else:
            seq = self._odd_seq(line.number, seq)
        try:
            record = from_table(line.table)
        except (UnknownRecord, OddRecord) as error:
            what = "an unknown type" if isinstance(error, UnknownRecord) else "something odd"
            self.odd.setdefault(f"{what}, {error}", []).append(line.number)
            return
        ts = line.table.get("ts")
        self.entries.append(Entry(seq, ts if type(ts) is str else "", record))

    def loaded(self, data: bytes) -> Loaded:
        """Return what was taken of ``data``."""
        session = self.entries[0].record if self.entries else None
        if not isinstance(session, SessionCreated):
            raise JournalDamaged(self.path, 1, NO_SESSION)
        torn = self.bad
        unended = torn is None and not data.endswith(b"\n")
        if torn is not None:
            self.warnings.append(f"{self.path}:{torn.number}: the last line is torn, left out")
        elif unended:
            last = data.count(b"\n") + 1
            self.warnings.append(f"{self.path}:{last}: the last line had no end")
        self.warnings += (_told(self.path, what, at) for what, at in self.odd.items())
        return Loaded(
            session=session,
            entries=tuple(self.entries),
            warnings=tuple(self.warnings),
            last_seq=self.highest,
            whole=len(data) if torn is None else torn.start,
            unended=unended,
        )

    def _check_format(self, number: int, table: dict[str, Any]) -> None:
        version = table.get("v", FORMAT)
        if type(version) is int and version > FORMAT:
            raise JournalNewer(self.path, number, version, FORMAT)

    def _odd_seq(self, number: int, seq: Any) -> int:
        """Return a record's number.  One without stands under the number before it."""
        if type(seq) is not int:
            self.odd.setdefault("no number", []).append(number)
            return self.highest
        if seq <= self.highest:
            self.odd.setdefault("a number that was there before", []).append(number)
        else:
            self.odd.setdefault("a number that leaves a gap", []).append(number)
        self.highest = max(self.highest, seq)
        return seq


def _told(path: str, what: str, at: list[int]) -> str:
    more = f" and {len(at) - 1} more" if len(at) > 1 else ""
    return f"{path}:{at[0]}: a record has {what}{more}"
