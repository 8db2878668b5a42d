"""``[[hooks]]`` of a configuration: a person's own programs, and when they are run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from protocol.values import frozen
from runtimes.radian.config import ConfigError, check_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HookEvent: TypeAlias = Literal[
    "session_start", "user_prompt", "before_tool", "after_tool", "before_stop", "session_end"
]
EVENTS: tuple[HookEvent, ...] = get_args(HookEvent)
KEYS = ("event", "command", "required", "timeout")
TIMEOUT = "60s"
MAX_NAME = 80


@frozen
class Hook:
    """One program, run at each event of its kind."""

    event: HookEvent
    command: tuple[str, ...]
    required: bool = False
    """What it was to decide does not happen unless it has said so."""
    timeout_s: float = 60.0

    @property
    def name(self) -> str:
        """What people know it by: its command without the folder, cut."""
        words = " ".join((os.path.basename(self.command[0]), *self.command[1:]))
        return words if len(words) <= MAX_NAME else f"{words[: MAX_NAME - 1]}…"


def hooks_of(value: Any, where: str, folder: str) -> tuple[Hook, ...]:
    """Read the list; a command with a slash is relative to ``folder``, which holds the file.

    Raises:
        ConfigError: See there.

    """
    if not isinstance(value, list):
        message = f"{where} must be a list of tables: [[hooks]]"
        raise ConfigError(message)
    tables = cast("Sequence[Any]", value)
    return tuple(_hook(each, f"{where}[{at}]", folder) for at, each in enumerate(tables))


def _hook(value: Any, where: str, folder: str) -> Hook:
    if not isinstance(value, dict):
        message = f"{where} must be a table"
        raise ConfigError(message)
    table = cast("dict[str, Any]", value)
    check_known(table, KEYS, where)
    event = table.get("event")
    if event not in EVENTS:
        message = f"{where}: event must be one of {', '.join(EVENTS)}, not {event!r}"
        raise ConfigError(message)
    required = table.get("required", False)
    if not isinstance(required, bool):
        message = f"{where}: required must be true or false, not {required!r}"
        raise ConfigError(message)
    if required and event == "session_end":
        message = f"{where}: session_end can't be required: nothing is left that it could stop"
        raise ConfigError(message)
    return Hook(event, _command(table, where, folder), required, _timeout_s(table, where))


def _command(table: Mapping[str, Any], where: str, folder: str) -> tuple[str, ...]:
    value = table.get("command")
    words = cast("Sequence[Any]", value) if isinstance(value, list) else ()
    if not words or not all(isinstance(word, str) for word in words) or not words[0]:
        message = f'{where}: command must be a list of words, as ["./check.sh", "--strict"]'
        raise ConfigError(message)
    program = words[0]
    if "/" in program:
        program = os.path.abspath(os.path.join(folder, program))
    return (program, *words[1:])


def _timeout_s(table: Mapping[str, Any], where: str) -> float:
    from ops.durations import parse_duration

    text = table.get("timeout", TIMEOUT)
    try:
        return parse_duration(text if isinstance(text, str) else repr(text))
    except ValueError as error:
        message = f"{where}: timeout: {error}"
        raise ConfigError(message) from error
