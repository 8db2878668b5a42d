"""Lists of sessions and of hits, as text or JSON.  Pure."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from runtimes.models.json_text import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.radian.session_search import Hit
    from runtimes.radian.sessions import Summary

ListFormat: TypeAlias = Literal["text", "json", "jsonl"]
SCHEMA = 1


def session_list(summaries: Sequence[Summary], form: ListFormat) -> str:
    """Return sessions in the order given; nothing as text where there are none."""
    if form == "text":
        return _in_columns([_session_cells(each) for each in summaries])
    return _as_json("Session", "sessions", summaries, form)


def hit_list(hits: Sequence[Hit], form: ListFormat) -> str:
    """Return hits in the order given; nothing as text where there are none."""
    if form == "text":
        return _in_columns([(hit.session_id, f"turn {hit.turn}", hit.excerpt) for hit in hits])
    return _as_json("Hit", "hits", hits, form)


def _session_cells(summary: Summary) -> tuple[str, ...]:
    when = summary.updated[:16].replace("T", " ") + "Z"
    turns = f"{summary.turns} turn{'' if summary.turns == 1 else 's'}"
    return (summary.session_id, when, turns, summary.title)


def _in_columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Put cells below each other; the last column is as wide as it gets."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = (
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    )
    return "".join(line.rstrip() + "\n" for line in lines)


def _as_json(kind: str, key: str, values: Sequence[Any], form: ListFormat) -> str:
    rows = [{"type": kind, **_row(each)} for each in values]
    if form == "jsonl":
        return "".join(encode(row).decode() + "\n" for row in rows)
    whole = {"type": f"{kind}List", "schema": SCHEMA, key: rows}
    return encode(whole).decode() + "\n"


def _row(value: Any) -> dict[str, Any]:
    pairs = ((each.name, getattr(value, each.name)) for each in fields(value))
    return {name: given for name, given in pairs if given not in {None, ""}}
