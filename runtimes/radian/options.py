"""Checked conversation flags.  Below the command line nothing else is passed around."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from protocol.values import frozen
from runtimes.radian.flags import EFFORTS, LOG_LEVELS, MAX_MODEL_CALLS, FlagsMisused
from runtimes.radian.ids import check_session_id
from runtimes.radian.session_errors import BadSessionId

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.models.base import Effort

MICROS = 1_000_000
MAX_DOLLARS = 1_000_000_000
MAX_TURN_S = 366 * 86400
"""A year, as for all durations: timers have limits."""


@frozen
class ConversationOptions:
    """What ``radian exec`` and ``radian acp`` are told alike.  None and "": not said."""

    provider: str = ""
    model: str = ""
    workspace: str | None = None
    """Absolute, without links."""
    profile: str = ""
    resume: str | None = None
    session_id: str | None = None
    trust: bool | None = None
    """None: the trust file decides."""
    effort: Effort | None = None
    max_model_calls: int | None = MAX_MODEL_CALLS
    """None: no limit."""
    max_cost_micros: int | None = None
    max_output_tokens: int | None = None
    turn_timeout_s: float | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    user_config: bool = True
    mcp_config: tuple[str, ...] = ()
    log_level: str = ""
    """As the log calls it, in capitals."""
    log_file: str = ""


def conversation_options(given: Mapping[str, Any]) -> ConversationOptions:
    """Check the flags that were given, see `runtimes.radian.flags`.  Looks the workspace up.

    Raises:
        FlagsMisused: One of them can't be.

    """
    effort: Any = given.get("effort")
    if effort is not None and effort not in EFFORTS:
        message = f"--effort must be one of {', '.join(EFFORTS)}, not {effort!r}"
        raise FlagsMisused(message)
    return ConversationOptions(
        provider=given.get("provider", ""),
        model=given.get("model", ""),
        workspace=_workspace(given.get("workspace")),
        profile=given.get("profile", ""),
        resume=_id(given, "resume"),
        session_id=_id(given, "session_id"),
        trust=_trust(given),
        effort=effort,
        max_model_calls=_count(given, "max_model_calls", MAX_MODEL_CALLS, least=0) or None,
        max_cost_micros=_dollars(given.get("max_cost")),
        max_output_tokens=_count(given, "max_output_tokens", None, least=1),
        turn_timeout_s=_seconds(given.get("turn_timeout")),
        allow=tuple(given.get("allow", ())),
        deny=tuple(given.get("deny", ())),
        user_config=not given.get("no_user_config", False),
        mcp_config=tuple(given.get("mcp_config", ())),
        log_level=_log_level(given.get("log_level")),
        log_file=_log_file(given.get("log_file")),
    )


def _workspace(path: str | None) -> str | None:
    if path is None:
        return None
    if "\0" in path or not os.path.isdir(path):
        message = f"--workspace {path!r} is no folder"
        raise FlagsMisused(message)
    from runtimes.radian.workspace_path import usable

    return usable(os.path.realpath(path))


def _log_level(name: str | None) -> str:
    if name is None:
        return ""
    if name.lower() not in LOG_LEVELS:
        message = f"--log-level must be one of {', '.join(LOG_LEVELS)}, not {name!r}"
        raise FlagsMisused(message)
    return name.upper()


def _log_file(path: str | None) -> str:
    if path is not None and (not path or "\0" in path):
        message = f"--log-file {path!r} names no file"
        raise FlagsMisused(message)
    return path or ""


def _trust(given: Mapping[str, Any]) -> bool | None:
    if "trust" in given and "no_trust" in given:
        message = "--trust and --no-trust don't go together"
        raise FlagsMisused(message)
    return True if "trust" in given else False if "no_trust" in given else None


def _id(given: Mapping[str, Any], key: str) -> str | None:
    text = given.get(key)
    if text is None:
        return None
    try:
        return check_session_id(text)
    except BadSessionId as error:
        raise FlagsMisused(str(error)) from error


def _count(given: Mapping[str, Any], key: str, absent: int | None, *, least: int) -> int | None:
    text = given.get(key)
    if text is None:
        return absent
    from ops.digits import whole_number

    number = whole_number(text)
    if number is None or number < least:
        name = key.replace("_", "-")
        message = f"--{name} must be a whole number from {least} on, not {text[:40]!r}"
        raise FlagsMisused(message)
    return number


def _dollars(text: str | None) -> int | None:
    if text is None:
        return None
    from decimal import Decimal, InvalidOperation

    try:
        dollars = Decimal(text)
    except InvalidOperation:
        dollars = Decimal("NaN")
    if not dollars.is_finite() or not 0 <= dollars <= MAX_DOLLARS:
        message = f"--max-cost must be US dollars such as 0.50, not {text[:40]!r}"
        raise FlagsMisused(message)
    return int(dollars * MICROS)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= MAX_TURN_S:
        message = (
            f"--turn-timeout must be over 0 and at most {MAX_TURN_S} seconds, not {text[:40]!r}"
        )
        raise FlagsMisused(message)
    return seconds
