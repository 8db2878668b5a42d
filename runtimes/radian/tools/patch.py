"""`patch`: exact replacements in a file, all of them or none; no other byte changes."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from runtimes.radian.tools.base import (
    Location,
    Prepared,
    ToolFailedError,
    ToolOutcome,
    ToolView,
)
from runtimes.radian.tools.disk import read_whole, replace_whole
from runtimes.radian.tools.inputs import InputInvalidError
from runtimes.radian.tools.places import Place
from runtimes.radian.tools.running import file_request, one_line, run_callable
from runtimes.radian.tools.text_edit import Edit, EditFailedError, apply_edit
from runtimes.radian.tools.write import may_be_looked_at, refuse_stale, shown_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.work import WorkContext
    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun

_OLD = {"type": "string", "minLength": 1, "description": "Text to replace, exactly as it stands"}
_NEW = {"type": "string", "description": "Text to put in its place"}


class Patch:
    """Changes parts of a file."""

    name = "patch"
    kind: Kind = "edit"
    read_only = False
    summary = (
        "Replace text in a file. `old` must occur exactly once unless `all` is true; give enough "
        "of the lines around it. For several changes give `edits`, which are made in order, all "
        "or none. Line ends are kept. Refused if the file changed since you read it."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Absolute, or relative to the workspace",
            },
            "old": _OLD,
            "new": _NEW,
            "all": {"type": "boolean", "description": "Replace every occurrence"},
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {"old": _OLD, "new": _NEW},
                    "required": ["old", "new"],
                    "additionalProperties": False,
                },
                "description": "Several changes, in place of old and new",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    }

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Try the edits, where the file may be looked at: nobody is asked about what can't work."""
        edits = _edits(values)
        place = context.places.place(values["path"], writing=True)
        request = file_request(self.name, "write", place, context)
        diff, line = None, None
        if may_be_looked_at(place, context):
            before, after = _changed(place.path, edits, context)
            diff, line = shown_change(place.path, before, after), _first_change(before, after)
        title = one_line(f"Patch {context.places.shown(place.path)}")
        view = ToolView(title, (Location(place.path, line),), diff)
        return Prepared(self.name, values, view, request)

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the change."""
        del call_id
        path, request = prepared.request.target, prepared.request
        edits = _edits(prepared.input)

        def act(work: WorkContext) -> ToolOutcome:
            del work
            context.places.recheck(Place(path, request.alias, request.zone))
            before, after = _changed(path, edits, context)
            replace_whole(path, after, context.faults, before=before)
            if context.seen.knows(path):
                context.seen.note(path, after)
            shown = context.places.shown(path)
            return ToolOutcome(f"{shown} changed, first at line {_first_change(before, after)}")

        return run_callable(self.name, act)


def _edits(values: Input) -> tuple[Edit, ...]:
    single = "old" in values or "new" in values
    if single == ("edits" in values):
        message = "give either old and new, or edits"
        raise InputInvalidError(message)
    if not single:
        return tuple(Edit(one["old"], one["new"]) for one in values["edits"])
    for name in ("old", "new"):
        if name not in values:
            message = f"{name}: is missing"
            raise InputInvalidError(message)
    return (Edit(values["old"], values["new"], everywhere=values.get("all", False)),)


def _changed(path: str, edits: tuple[Edit, ...], context: ToolContext) -> tuple[bytes, bytes]:
    before = read_whole(path, context.faults)
    if before is None:
        message = f"{context.places.shown(path)} does not exist; use write to make it"
        raise ToolFailedError(message)
    refuse_stale(path, before, context)
    after = before
    for number, edit in enumerate(edits):
        try:
            after = apply_edit(after, edit)
        except EditFailedError as error:
            where = f"edits[{number}]: " if len(edits) > 1 else ""
            message = f"{context.places.shown(path)}: {where}{error}"
            raise ToolFailedError(message) from error
    return before, after


def _first_change(before: bytes, after: bytes) -> int:
    """Return the line, from 1, where two contents begin to differ."""
    pairs = zip(before.split(b"\n"), after.split(b"\n"), strict=False)
    return 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
