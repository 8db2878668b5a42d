"""`subagent`: a task for another conversation; who holds it is `runtimes.radian.subagent`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.radian.permissions import Request
from runtimes.radian.tools.base import Prepared, ToolFailedError, ToolView, failure
from runtimes.radian.tools.running import one_line, run_callable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun

NAME = "subagent"
NO_TURN = "subagents work only within a turn"


class SubagentTool:
    """Gives a task away; in a turn its calls are held by `runtimes.radian.subagents`."""

    name = NAME
    kind: Kind = "other"
    read_only = False
    summary = (
        "Give a task of its own to a subagent: it has the same tools, files and permissions, but "
        "knows nothing of this conversation, and you get only its last message. Say in the prompt "
        "all that it must know, and what to report. Use it for work whose details you don't need, "
        "such as a broad search; several calls in one answer work side by side, so let no two "
        "change the same files."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "prompt": {"type": "string", "minLength": 1, "description": "The whole task"},
            "description": {"type": "string", "description": "The task in a few words, for people"},
        },
        "required": ["prompt"],
        "additionalProperties": False,
    }

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Check that there is a task."""
        del context
        if not values["prompt"].strip():
            message = "the prompt is blank"
            raise ToolFailedError(message)
        title = one_line(values.get("description", "").strip() or values["prompt"])
        return Prepared(self.name, values, ToolView(title), Request(NAME, "subagent"))

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return a run that fails: a turn does not start it."""
        del prepared, call_id, context
        return run_callable(NAME, lambda _work: failure(NO_TURN, "no turn"))
