"""The flags that ``radian exec`` has beside those of a conversation, and which go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.radian.flags import CONVERSATION, Flag, FlagsMisused

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTPUTS = ("text", "json", "jsonl")
LIST_FORMATS = OUTPUTS
EXPORT_FORMATS = ("markdown", "json", "jsonl")

PROMPT: tuple[Flag, ...] = (
    Flag("--prompt", "TEXT", "what to do; '-' reads it from stdin", short="-p"),
    Flag("--image", "FILE", "a picture for the prompt: png, jpeg, gif or webp", many=True),
    Flag("--output", "FORMAT", "text (the answer), when absent; json (the result); jsonl (events)"),
    Flag("--yes", "", "allow what a person would be asked; what is denied stays denied"),
)
PRINTING: tuple[Flag, ...] = (
    Flag("--list", "", "print the sessions of the workspace, the last one first"),
    Flag("--search", "QUERY", "print the turns of the workspace's sessions that have all words"),
    Flag("--export", "ID", "print the transcript of a session"),
    Flag("--fork", "ID", "make a session that begins as this one did, and print its id"),
    Flag("--at", "TURN", "for --export and --fork: the last turn to take, or seq:N for a record"),
    Flag("--format", "FORMAT", "text, json, jsonl; of an export markdown, json, jsonl"),
    Flag("--out", "FILE", "where an export goes; stdout when absent"),
    Flag("--force", "", "let --out replace a file"),
    Flag("--include-reasoning", "", "an export has what the model thought aloud"),
    Flag("--include-provider-payload", "", "an export has what the provider sent raw"),
)
OWN = (*PROMPT, *PRINTING)
FLAGS = (*OWN, *CONVERSATION)

COMMANDS = ("prompt", "list", "search", "export", "fork")
"""At most one of these."""
NEEDS: Mapping[str, tuple[str, ...]] = {
    "at": ("export", "fork"),
    "format": ("list", "search", "export"),
    "out": ("export",),
    "force": ("export",),
    "include_reasoning": ("export",),
    "include_provider_payload": ("export",),
}
"""A flag to the commands of which one must be there."""
FOR_TURNS = ("image", "yes", "output", "resume")
"""Have no meaning where something is printed and no turn is run."""


def check_together(given: Mapping[str, Any]) -> str:
    """See that the flags go together; return the command: one of `COMMANDS`.

    Raises:
        FlagsMisused: They don't.

    """
    commands = [name for name in COMMANDS if name in given]
    if len(commands) > 1:
        raise FlagsMisused(" and ".join(map(_flag, commands)) + " don't go together")
    command = commands[0] if commands else "prompt"
    for name, needed in NEEDS.items():
        if name in given and command not in needed:
            message = f"{_flag(name)} needs {' or '.join(map(_flag, needed))}"
            raise FlagsMisused(message)
    for name in FOR_TURNS:
        if name in given and command != "prompt":
            message = f"{_flag(name)} and {_flag(command)} don't go together"
            raise FlagsMisused(message)
    if "force" in given and "out" not in given:
        message = "--force needs --out"
        raise FlagsMisused(message)
    _check_format(given, "output", OUTPUTS)
    _check_format(given, "format", EXPORT_FORMATS if command == "export" else LIST_FORMATS)
    return command


def _check_format(given: Mapping[str, Any], name: str, known: tuple[str, ...]) -> None:
    if given.get(name, known[0]) not in known:
        message = f"{_flag(name)} must be one of {', '.join(known)}, not {given[name]!r}"
        raise FlagsMisused(message)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
