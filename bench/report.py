"""The run as tables for people and as JSON for machines."""

from __future__ import annotations

import json
import platform
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.samples import Table
    from bench.target import Results, Verdict

VERDICTS = {True: "met", False: "NOT MET", None: "not measured"}


def table(title: str, rows: Table) -> str:
    """Lay out one measurement: a line for each agent, a column for each figure."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = [["", *names]]
    cells += [[agent, *(_number(row.get(name)) for name in names)] for agent, row in rows.items()]
    return "\n".join([title, *_aligned(cells), ""])


def verdicts(judged: Sequence[Verdict]) -> str:
    """Lay out every target with its figure, its bar and whether it is met."""
    cells = [
        [
            verdict.target.title,
            f"{_number(verdict.value)} {verdict.target.unit}".strip(),
            f"{verdict.target.relation} {_number(verdict.target.bar)}",
            VERDICTS[verdict.met],
        ]
        for verdict in judged
    ]
    missed = sum(verdict.met is False for verdict in judged)
    unknown = sum(verdict.met is None for verdict in judged)
    total = f"{len(judged) - missed - unknown} met, {missed} not met, {unknown} not measured"
    return "\n".join(["Targets", *_aligned(cells), "", total])


def save(path: Path, results: Results, judged: Sequence[Verdict]) -> None:
    """Write everything as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "version": 1,
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {"python": platform.python_version(), "system": platform.platform()},
        "results": results,
        "targets": [
            {
                "title": verdict.target.title,
                "value": verdict.value,
                "relation": verdict.target.relation,
                "bar": verdict.target.bar,
                "unit": verdict.target.unit,
                "met": verdict.met,
            }
            for verdict in judged
        ],
    }
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join(["  " + first.ljust(widths[0]), *cells]).rstrip()


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"
