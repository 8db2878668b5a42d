"""How a drive ends: the exit codes and what they stand for.  Pure."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAILED: Final = 1
WAITING: Final = 3
REFUSED: Final = 4
INTERRUPTED: Final = 130

EXIT_CODES: Final = (
    (OK, "the last turn ended with end_turn"),
    (FAILED, "the agent failed, died, stopped at a limit, or speaks no protocol we know"),
    (2, "usage"),
    (WAITING, "the last turn is waiting for a decision"),
    (REFUSED, "the agent refused the last prompt"),
    (INTERRUPTED, "the last turn was cancelled, or Ctrl-C ended the agent"),
)
"""For --help."""

_BY_STOP_REASON: Final = {
    "end_turn": OK,
    "waiting": WAITING,
    "refusal": REFUSED,
    "cancelled": INTERRUPTED,
}


def exit_code(stop_reason: str) -> int:
    """Choose the exit code of a turn; limits and reasons that we do not know are failures."""
    return _BY_STOP_REASON.get(stop_reason, FAILED)
