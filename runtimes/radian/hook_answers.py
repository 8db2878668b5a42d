"""What a hook answered, read strictly from its exit code and its stdout.  Pure.

Exit code 0 without output passes; 0 with exactly one JSON object is an answer; 2 denies, with
stderr as the reason.  Everything else is a failure: a stray line must never decide anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from protocol.values import frozen
from runtimes.models.json_text import parse
from runtimes.radian.tools.base import ended_badly

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.work import StepEnd
    from runtimes.radian.hook_config import HookEvent

DENIES = 2
MAX_ANSWER_BYTES = 512 * 1024
"""Of stdout: what is kept of it whole."""
MAX_REASON = 4000
"""Characters of a reason, a message; a context may be longer."""
MAX_SHOWN = 80
"""Of what it printed by mistake."""
MAX_CONTEXT = 64 * 1024
KEYS = ("decision", "reason", "input", "context", "message")
TEXTS = ("reason", "context", "message")


@frozen
class Allowed:
    """It lets it pass, and may have something to say."""

    input: Mapping[str, Any] | None = None
    """Of `before_tool`: what the call gets instead of its own arguments."""
    context: str = ""
    """For the model."""
    message: str = ""
    """For people."""


@frozen
class Denied:
    """It forbids it."""

    reason: str
    message: str = ""


@frozen
class Failed:
    """It gave no answer; ``why`` in a few words."""

    why: str


Answer: TypeAlias = Allowed | Denied | Failed


def read_answer(event: HookEvent, end: StepEnd) -> Answer:
    """Read how a hook of ``event`` ended."""
    if end.kind != "exited":
        return Failed(ended_badly(end))
    if end.exit_code == DENIES:
        reason = end.stderr.text.strip()[:MAX_REASON]
        return Denied(reason or "it gave no reason")
    if end.exit_code != 0:
        said = _last_line(end.stderr.text)
        return Failed(f"exit code {end.exit_code}" + (f": {said}" if said else ""))
    if end.stdout.total_bytes > MAX_ANSWER_BYTES:
        return Failed(f"its answer has more than {MAX_ANSWER_BYTES} bytes")
    if not end.stdout.text.strip():
        return Allowed()
    try:
        value: object = parse(end.stdout.text)
    except ValueError:
        shown = end.stdout.text.strip()[:MAX_SHOWN]
        return Failed(f"its stdout is neither empty nor one JSON object: {shown!r}")
    if not isinstance(value, dict):
        return Failed("its stdout is no JSON object")
    return _answer(event, cast("dict[str, Any]", value))


def _answer(event: HookEvent, table: Mapping[str, Any]) -> Answer:
    unknown = [key for key in table if key not in KEYS]
    if unknown:
        return Failed(f"its answer has an unknown key {unknown[0][:40]!r}")
    wrong = [key for key in TEXTS if not isinstance(table.get(key, ""), str)]
    if wrong:
        return Failed(f"{wrong[0]} of its answer is no text")
    reason, message = table.get("reason", ""), table.get("message", "")[:MAX_REASON]
    match table.get("decision"):
        case "deny" if "input" in table or "context" in table:
            return Failed("its answer denies, so it can have neither input nor context")
        case "deny":
            return Denied(reason.strip()[:MAX_REASON] or "it gave no reason", message)
        case "allow":
            return _allowed(event, table, message)
        case other:
            return Failed(f"decision of its answer must be allow or deny, not {str(other)[:40]!r}")


def _allowed(event: HookEvent, table: Mapping[str, Any], message: str) -> Answer:
    given = table.get("input")
    if "input" in table and (event != "before_tool" or not isinstance(given, dict)):
        return Failed("input of its answer must be an object, and only before_tool may have one")
    context = table.get("context", "")
    if len(context) > MAX_CONTEXT:
        return Failed(f"context of its answer has more than {MAX_CONTEXT} characters")
    return Allowed(cast("Mapping[str, Any] | None", given), context.strip(), message)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:MAX_REASON] if lines else ""
