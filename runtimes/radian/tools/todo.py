"""`todo`: the model's list of what is to do, as it wants it shown; nothing is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.radian.permissions import Request
from runtimes.radian.tools.base import Prepared, ToolOutcome, ToolView
from runtimes.radian.tools.running import one_line, run_callable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun

STATUSES = ("pending", "in_progress", "completed")
MAX_ITEMS = 200
MAX_ITEM_CHARS = 400
MARKS = dict(zip(STATUSES, ("[ ]", "[>]", "[x]"), strict=True))


class Todo:
    """Shows a plan; whoever shows the call reads its input."""

    name = "todo"
    kind: Kind = "think"
    read_only = True
    summary = (
        "Show the person your plan. Give the whole list each time; keep one item in progress. "
        "Use it for work of several steps."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "maxItems": MAX_ITEMS,
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string", "minLength": 1},
                        "status": {"type": "string", "enum": list(STATUSES)},
                    },
                    "required": ["content", "status"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["items"],
        "additionalProperties": False,
    }

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Count."""
        del context
        running = [one["content"] for one in values["items"] if one["status"] == "in_progress"]
        title = one_line(f"Plan: {running[0]}" if running else f"Plan: {_summary(values)}")
        return Prepared(self.name, values, ToolView(title), Request(self.name, "talk"))

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return a run that says how far it is."""
        del call_id, context
        return run_callable(self.name, lambda _work: ToolOutcome(_shown(prepared.input)))


def _shown(values: Input) -> str:
    items = (
        f"{MARKS[one['status']]} {one_line(one['content'], MAX_ITEM_CHARS)}"
        for one in values["items"]
    )
    return "\n".join([*items, _summary(values)])


def _summary(values: Input) -> str:
    items = values["items"]
    done = sum(one["status"] == "completed" for one in items)
    return f"{done} of {len(items)} done"
