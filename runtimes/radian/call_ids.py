"""Ids of calls: one of its own for each call of a session.  Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runtimes.models.base import ToolUse

if TYPE_CHECKING:
    from runtimes.models.answer import Answer


def with_new_ids(answer: Answer, used: set[str]) -> Answer:
    """Give each call an id that is not ``used`` yet: some servers number anew in each answer."""
    parts = (
        replace(part, call_id=_new_id(part.call_id, used)) if isinstance(part, ToolUse) else part
        for part in answer.parts
    )
    return replace(answer, parts=tuple(parts))


def _new_id(call_id: str, used: set[str]) -> str:
    base = call_id or "call"
    fresh, number = base, 1
    while fresh in used:
        number += 1
        fresh = f"{base}-{number}"
    used.add(fresh)
    return fresh
