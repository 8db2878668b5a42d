"""Known secrets are no part of a journal: the texts of records without them.  Pure.

Names of types, ids and places are left alone, and what a provider wants back word for word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TEXTS: Mapping[str, tuple[str, ...]] = {
    "AssistantMessage": ("error", "payload"),
    "ToolResult": ("output",),
    "PermissionDecided": ("reason",),
    "QuestionAnswered": ("question", "option"),
    "Compacted": ("summary",),
    "JobStarted": ("command",),
    "JobFinished": ("command",),
    "TurnEnded": ("error",),
}
"""The keys of each type of record that hold what somebody said."""
PARTS: Mapping[str, str] = {"UserMessage": "content", "AssistantMessage": "parts"}
TEXTS_OF_PARTS = ("text", "uri", "input")


def without_secrets(table: Mapping[str, Any], mask: Callable[[str], str]) -> dict[str, Any]:
    """Return a record's object with ``mask`` in the place of each secret in its texts."""
    kind: str = table["type"]
    masked = _changed(table, TEXTS.get(kind, ()), mask)
    if kind in PARTS:
        name = PARTS[kind]
        masked[name] = [_changed(part, TEXTS_OF_PARTS, mask) for part in table[name]]
    return masked


def _changed(
    table: Mapping[str, Any], names: Sequence[str], mask: Callable[[str], str]
) -> dict[str, Any]:
    return {**table, **{name: _masked(table[name], mask) for name in names if name in table}}


def _masked(value: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [_masked(each, mask) for each in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        return {mask(name): _masked(each, mask) for name, each in named.items()}
    return value
