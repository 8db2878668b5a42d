"""`write`: a whole file, new or in place of another, whose line ends, mark and mode it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.radian.tools.base import (
    Diff,
    Location,
    Prepared,
    ToolFailedError,
    ToolOutcome,
    ToolView,
)
from runtimes.radian.tools.disk import read_whole, replace_whole
from runtimes.radian.tools.places import Place
from runtimes.radian.tools.running import file_request, one_line, run_callable
from runtimes.radian.tools.text_edit import like_before

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.work import WorkContext
    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun

MAX_DIFF_BYTES = 256 * 1024
"""Of each side of a change that is shown."""


class Write:
    """Writes a file."""

    name = "write"
    kind: Kind = "edit"
    read_only = False
    summary = (
        "Write a whole file, making folders as needed. To change part of a file, use patch. "
        "Refused if the file changed since you read it."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Absolute, or relative to the workspace",
            },
            "content": {"type": "string", "description": "The whole text of the file"},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    }

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Look where the file lies; it is read, to show the change, only in the workspace."""
        place = context.places.place(values["path"], writing=True)
        request = file_request(self.name, "write", place, context)
        title = one_line(f"Write {context.places.shown(place.path)}")
        diff = None
        if may_be_looked_at(place, context):
            before = read_whole(place.path, context.faults)
            refuse_stale(place.path, before, context)
            diff = shown_change(place.path, before, like_before(before or b"", values["content"]))
        view = ToolView(title, (Location(place.path),), diff)
        return Prepared(self.name, values, view, request)

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the writing."""
        del call_id
        path, request = prepared.request.target, prepared.request

        def act(work: WorkContext) -> ToolOutcome:
            del work
            context.places.recheck(Place(path, request.alias, request.zone))
            before = read_whole(path, context.faults)
            refuse_stale(path, before, context)
            data = like_before(before or b"", prepared.input["content"])
            if data != before:
                replace_whole(path, data, context.faults, before=before)
            context.seen.note(path, data)
            did = "made" if before is None else "replaced" if data != before else "left as it was"
            return ToolOutcome(f"{context.places.shown(path)} {did}, {len(data)} bytes")

        return run_callable(self.name, act)


def may_be_looked_at(place: Place, context: ToolContext) -> bool:
    """Tell whether a file that is about to be changed may be read before anyone decided."""
    return place.zone in {"inside", "protected"} and not context.places.hides(place.path)


def refuse_stale(path: str, before: bytes | None, context: ToolContext) -> None:
    """Refuse to change what the model has not seen as it is.

    Raises:
        ToolFailedError: The file was read, and is another now.

    """
    if before is None:
        return
    if context.seen.is_stale(path, before):
        message = f"{context.places.shown(path)} changed since it was read; read it again"
        raise ToolFailedError(message)


def shown_change(path: str, before: bytes | None, after: bytes) -> Diff | None:
    """Return a change for people, unless it is too long or no text."""
    if max(len(before or b""), len(after)) > MAX_DIFF_BYTES or b"\0" in (before or b"") + after:
        return None
    old = None if before is None else before.decode("utf-8", "replace")
    return Diff(path, old, after.decode("utf-8", "replace"))
