"""Exports of a session: Markdown to read, one JSON object, or its records as lines.

Reasoning and what providers sent raw are left out unless asked for.  Pure but for `write_export`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocol.values import frozen
from runtimes.models.json_text import encode, tables
from runtimes.radian.fold import cost_of, cost_table, fold_turn, turns_of
from runtimes.radian.healing import heal
from runtimes.radian.journal_read import numbered
from runtimes.radian.record_json import to_table
from runtimes.radian.records import TurnEnded, TurnStarted
from runtimes.radian.session_errors import ExportExists

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runtimes.radian.fold import Price
    from runtimes.radian.journal_read import Loaded
    from runtimes.radian.records import Entry

ExportFormat: TypeAlias = Literal["markdown", "json", "jsonl"]
SCHEMA = 1


@frozen
class Export:
    """What to export of a session; `seq` is the number of the last record to take."""

    loaded: Loaded
    data: bytes
    """The journal that `loaded` was read from."""
    seq: int
    reasoning: bool = False
    payload: bool = False
    """With raw parts of the provider: signatures, encrypted reasoning."""
    price: Price | None = None
    """Prices calls that were recorded without a price."""

    def entries(self) -> list[Entry]:
        """Return the records to export, as they are."""
        return [each for each in self.loaded.entries if each.seq <= self.seq]

    def text(self, form: ExportFormat) -> str:
        """Return the export, with a line break at its end."""
        match form:
            case "json":
                return encode(self.table()).decode() + "\n"
            case "jsonl":
                return "".join(encode(each).decode() + "\n" for each in self.records())
            case "markdown":
                from runtimes.radian.session_markdown import markdown

                return markdown(self)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the journal's own objects, also of unknown types, as far as they are wanted."""
        return (self.stripped(table) for seq, table in numbered(self.data) if seq <= self.seq)

    def table(self) -> dict[str, Any]:
        """Return the session as one object."""
        session, entries = self.loaded.session, self.entries()
        head = self.loaded.entries[0]
        table: dict[str, Any] = {
            "type": "Export",
            "schema": SCHEMA,
            "session_id": session.session_id,
            "workspace": session.workspace,
            "version": session.version,
            "created": head.ts,
        }
        if session.parent is not None:
            table["parent"] = to_table(head)["parent"]
        table["cost"] = cost_table(cost_of((each.record for each in entries), self.price))
        table["turns"] = [self._turn(entries, turn) for turn in turns_of(entries)]
        return table

    def stripped(self, table: dict[str, Any]) -> dict[str, Any]:
        """Return a record without what is not wanted."""
        if table.get("type") != "AssistantMessage":
            return table
        unwanted = {"reasoning"} if not self.reasoning else set[str]()
        unwanted |= {"kept"} if not self.payload else set()
        parts = [each for each in tables(table.get("parts")) if each.get("type") not in unwanted]
        rest = {key: each for key, each in table.items() if key != "payload" or self.payload}
        return {**rest, "parts": parts}

    def _turn(self, entries: Sequence[Entry], turn: int) -> dict[str, Any]:
        fold = fold_turn(entries, turn, price=self.price)
        own = [each for each in heal(entries) if getattr(each.record, "turn", None) == turn]
        started = next(each for each in own if _is_frame(each))
        end = to_table(started._replace(record=fold.end))
        shown = (each for each in own if not _is_frame(each))
        table: dict[str, Any] = {"turn": turn, "origin": to_table(started)["origin"]}
        table |= {"started": started.ts, "ended": own[-1].ts}
        table |= {key: end[key] for key in ("end", "reason", "error") if key in end}
        return {
            **table,
            "text": fold.text,
            "cost": cost_table(fold.cost),
            "run_metrics": fold.metrics.as_table(),
            "records": [self.stripped(to_table(each)) for each in shown],
        }


def _is_frame(entry: Entry) -> bool:
    """Tell whether a record only says that its turn began or ended; a subagent's are kept."""
    return isinstance(entry.record, TurnStarted | TurnEnded) and entry.record.agent is None


def write_export(path: str, text: str, *, force: bool) -> None:
    """Write an export to a file, whole or not at all, for its owner only.

    Raises:
        ExportExists: It is there, and not to be replaced by ``force``.
        OSError: The disk refused it.

    """
    from ops.whole_file import whole_file

    target = os.path.realpath(path)
    if not force and os.path.lexists(target):
        message = f"{path} exists already; --force replaces it"
        raise ExportExists(message)
    with whole_file(target, 0o600) as stream:
        stream.write(text.encode("utf-8", "replace"))
