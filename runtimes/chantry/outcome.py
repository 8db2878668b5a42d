"""How a drive ends: the exit codes and what they stand for.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from protocol.members import as_object, optional_int, optional_text

if TYPE_CHECKING:
    from protocol.acp.client_side import PromptAnswer

OK: Final = 0
FAILED: Final = 1
WAITING: Final = 3
REFUSED: Final = 4
INTERRUPTED: Final = 130

EXIT_CODES: Final = (
    (OK, "the last turn ended with end_turn"),
    (FAILED, "the agent failed, died or stopped at a limit, or what it ran failed"),
    (2, "usage"),
    (WAITING, "the last turn waits for a gate or a decision"),
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


def exit_code(answer: PromptAnswer) -> int:
    """Choose the exit code of a turn; limits and reasons that we do not know are failures.

    A turn of chant that ended well may have run something that did not: its exit code counts.
    """
    code = _BY_STOP_REASON.get(answer.stop_reason, FAILED)
    own = optional_int(as_object(answer.meta.get("chant")), "exitCode")
    return own if code == OK and own is not None and 0 <= own <= INTERRUPTED else code


def in_words(answer: PromptAnswer) -> str:
    """Say how a turn ended."""
    status = optional_text(as_object(answer.meta.get("chant")), "status")
    return f"{answer.stop_reason}, run {status}" if status else answer.stop_reason
