"""A run for programs: one JSON line for each event, or silence until the record is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from ops.events import RunSettled, event_json
from runtimes.chant.items import PlanAnnounced, RecordWritten, Remark, VerbOutput
from runtimes.chant.json_text import json_line
from runtimes.chant.render import remark_text
from runtimes.chant.verbs.run import plan_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.chant.items import Item


class ProgressView:
    """--progress-json: ``plan``, the events of `ops.events`, remarks, and last ``record``."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, items: Sequence[Item]) -> None:
        """Write and flush a line for each."""
        self._out.write("".join(json_line(progress(item)) for item in items))
        self._out.flush()


class QuietView:
    """--json: only what people must know, beside the document that follows."""

    def __init__(self, err: TextIO) -> None:
        self._err = err

    def show(self, items: Sequence[Item]) -> None:
        """Write remarks."""
        for item in items:
            if isinstance(item, Remark):
                self._err.write(remark_text(item))
        self._err.flush()


def progress(item: Item) -> dict[str, Any]:
    """Return the JSON form of anything a run says."""
    match item:
        case PlanAnnounced(run_id, plan):
            return {"event": "plan", "run_id": run_id, **plan_document(plan)}
        case RecordWritten(run_id, record):
            return {"event": "record", "run_id": run_id, "record": record}
        case Remark(_, text) | VerbOutput(_, text):
            return {"event": "remark", "text": text.rstrip("\n")}
        case RunSettled():
            # The record comes once, at the very end, when it is known to be kept.
            return {**event_json(item), "record": None}
        case _:
            return event_json(item)
