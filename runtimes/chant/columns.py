"""Tables of words for people: aligned columns, short durations and times.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def columns(rows: Iterable[Sequence[str]], indent: str = "") -> list[str]:
    """Return a line for each row; the last column is not padded."""
    rows = list(rows)
    count = max((len(row) for row in rows), default=0)
    widths = [max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(count)]
    return [
        indent + "  ".join(f"{word:<{widths[i]}}" for i, word in enumerate(row)).rstrip()
        for row in rows
    ]


def moment_text(stamp: object) -> str:
    """Write a timestamp of the ledger as people read it: to the second, in UTC."""
    text = str(stamp or "")
    return f"{text[:10]} {text[11:19]}Z" if len(text) > len("2026-01-01T00:00:00") else text


def shown_value(value: Any) -> str:
    """Write a fact on one line, shortened."""
    import json

    limit = 60
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
