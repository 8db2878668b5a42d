"""The flags that ``radian exec`` has beside those of a conversation, and which go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.radian.flags import CONVERSATION, Flag, FlagsMisused

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTPUTS = ("text", "json", "jsonl")

OWN: tuple[Flag, ...] = (
    Flag("--prompt", "TEXT", "what to do; '-' reads it from stdin", short="-p"),
    Flag("--output", "FORMAT", "text (the answer), json (the result), or jsonl (all events)"),
    Flag("--yes", "", "allow what a person would be asked; what is denied stays denied"),
)  # fmt: skip
FLAGS = (*OWN, *CONVERSATION)


def check_together(given: Mapping[str, Any]) -> None:
    """See that the flags go together.

    Raises:
        FlagsMisused: They don't.

    """
    output = given.get("output", "text")
    if output not in OUTPUTS:
        message = f"--output must be one of {', '.join(OUTPUTS)}, not {output!r}"
        raise FlagsMisused(message)
