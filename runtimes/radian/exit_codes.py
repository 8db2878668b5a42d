"""How a turn's end is told: one table from the journal's end to status, stop reason, exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.radian.records import TurnEnded

OK = 0
FAILED = 1
"""No turn to speak of: an internal error, output that can't be written, a file in the way."""
USAGE = 2
"""Flags, configuration, pictures or a prompt that can't be used."""
NO_SESSION = 10
"""The session is missing, another workspace's, taken, damaged or open elsewhere."""
INTERRUPTED = 130
TERMINATED = 143
"""What an interrupted turn exits with when the process was told to end."""

Status: TypeAlias = Literal["completed", "interrupted", "incomplete", "failed"]
StopReason: TypeAlias = Literal[
    "end_turn", "cancelled", "max_tokens", "max_turn_requests", "refusal"
]
INTERNAL = "internal"
"""The origin of a failure that is ours, or the disk's."""


class Ending(NamedTuple):
    """The three words for one end of a turn."""

    status: Status
    stop_reason: StopReason
    exit_code: int


# fmt: off
ENDINGS: Mapping[tuple[str, str], Ending] = {
    # end and reason (origin, where it failed)
    ("Completed",   ""):            Ending("completed",   "end_turn",          0),
    ("Interrupted", ""):            Ending("interrupted", "cancelled",         130),
    ("Incomplete",  "truncated"):   Ending("incomplete",  "max_tokens",        3),
    ("Incomplete",  "model_calls"): Ending("incomplete",  "max_turn_requests", 4),
    ("Incomplete",  "cost"):        Ending("incomplete",  "refusal",           4),
    ("Incomplete",  "time"):        Ending("incomplete",  "refusal",           4),
    ("Incomplete",  "refused"):     Ending("incomplete",  "refusal",           6),
    ("Incomplete",  "unfinished"):  Ending("incomplete",  "refusal",           6),
    ("Failed",      "model"):       Ending("failed",      "refusal",           5),
    ("Failed",      "hook"):        Ending("failed",      "refusal",           5),
    ("Failed",      "credential"):  Ending("failed",      "refusal",           11),
    ("Failed",      INTERNAL):      Ending("failed",      "refusal",           FAILED),
}
# fmt: on
GAVE_UP = Ending("failed", "refusal", 75)
"""A failure of the model that may be gone another time."""

ABOUT: Mapping[int, str] = {
    OK: "the model ended its turn; what was asked for is printed",
    FAILED: "internal error, full disk, output nobody could be given, a file that is in the way",
    USAGE: "flags, configuration, pictures or the prompt can't be used",
    3: "an answer was cut off and could not be continued",
    4: "a limit was spent",
    5: "the model's provider refused the call, or a hook failed",
    6: "the model would not answer, or did not end properly",
    NO_SESSION: "the session is missing, another workspace's, taken, damaged, or open elsewhere",
    11: "there is no key, or the provider refused it",
    75: "the provider could not be reached or was busy, after several attempts",
    130: "Ctrl-C; what was said so far is kept, a second one waits for no tool and no reader",
    TERMINATED: "SIGTERM, or the terminal was closed; what was said so far is kept",
}
"""What each exit code says; help and guide have it from here."""


def ending_of(end: TurnEnded, *, terminated: bool = False, unheard: bool = False) -> Ending:
    """Return how a turn's end is told.

    ``terminated``: the process was told to end.  ``unheard``: whoever read the output is gone.
    """
    if end.end == "Failed" and end.origin == "model" and end.retryable:
        return GAVE_UP
    key = (end.origin if end.end == "Failed" else end.reason) or ""
    ending = ENDINGS.get((end.end, key)) or ENDINGS["Failed", INTERNAL]
    if unheard:
        return ending._replace(exit_code=FAILED)
    if terminated and end.end == "Interrupted":
        return ending._replace(exit_code=TERMINATED)
    return ending
