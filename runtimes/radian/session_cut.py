"""Where a session may be cut for a fork or an export: at the end of a turn.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.digits import whole_number
from runtimes.radian.records import TurnEnded, TurnStarted
from runtimes.radian.session_errors import NoSuchTurnEnd

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runtimes.radian.records import Entry


def turn_ends(entries: Iterable[Entry]) -> dict[int, int]:
    """Return turn to the number of its last record, for each turn that is over.

    A turn that nobody ended is over when a later one began.
    """
    ends: dict[int, int] = {}
    running: tuple[int, int] | None = None
    for entry in entries:
        record = entry.record
        if isinstance(record, TurnStarted) and record.agent is None:
            if running is not None:
                ends[running[0]] = running[1]
            running = (record.turn, entry.seq)
        elif isinstance(record, TurnEnded) and record.agent is None:
            ends[record.turn] = entry.seq
            running = None
        elif running is not None and getattr(record, "turn", None) == running[0]:
            running = (running[0], entry.seq)
    return ends


def cut_at(entries: Iterable[Entry], at: str | None) -> int:
    """Return the number of the last record that ``at`` keeps.

    ``at``: a turn, or ``seq:N`` for a record; None: the last turn that is over.

    Raises:
        NoSuchTurnEnd: It is not the end of a turn; says which there are.

    """
    ends = turn_ends(entries)
    if not ends:
        message = "no turn of the session is over yet"
        raise NoSuchTurnEnd(message)
    if at is None:
        return max(ends.values())
    is_seq = at.startswith("seq:")
    digits = at.removeprefix("seq:")
    number = whole_number(digits)
    if is_seq and number is not None and number in ends.values():
        return number
    if not is_seq and number is not None and number in ends:
        return ends[number]
    known = ", ".join(f"{turn} (seq:{seq})" for turn, seq in list(ends.items())[-5:])
    message = f"{at} is not the end of a turn; the last ones: {known}"
    raise NoSuchTurnEnd(message)
