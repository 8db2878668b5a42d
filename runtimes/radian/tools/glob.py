"""`glob`: files whose path matches a pattern, by ripgrep, else by our own walk."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from runtimes.radian.tools.base import Location, Prepared, ToolFailedError, ToolRun, ToolView
from runtimes.radian.tools.programs import ripgrep
from runtimes.radian.tools.running import file_request, one_line, run_callable
from runtimes.radian.tools.searching import (
    DEFAULT_RESULTS,
    glob_below,
    listing,
    ripgrep_work,
    search_outcome,
)
from runtimes.radian.tools.walk import matching_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.work import StepEnd, WorkContext
    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolOutcome

TIMEOUT_S = 60.0


class Glob:
    """Finds files by name."""

    name = "glob"
    kind: Kind = "search"
    read_only = True
    summary = (
        "Find files by a pattern such as `**/*.py` or `src/*.toml`. Passes over folders that "
        ".gitignore names."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "description": "`*` and `?` within a name, `**` across folders, `{a,b}`",
            },
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Folder to look in; the workspace if absent",
            },
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }

    def __init__(self, program: str | None = None, *, walk: bool = False) -> None:
        """``program``: ripgrep's path, None to look for it; ``walk``: do without it."""
        self._program = program
        self._walk = walk

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Look where the search would go; a pattern from the root brings its own folder."""
        folder, pattern = _split(values["pattern"], values.get("path", "."))
        place = context.places.place(folder)
        request = file_request(self.name, "read", place, context)
        title = one_line(f"Find {pattern} in {context.places.shown(place.path)}")
        view = ToolView(title, (Location(place.path),))
        return Prepared(self.name, {"pattern": pattern, "path": folder}, view, request)

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the search."""
        del call_id
        pattern, top = prepared.input["pattern"], prepared.request.target
        program = None if self._walk else self._program or ripgrep(context.places.workspace)
        if program is None:

            def act(work: WorkContext) -> ToolOutcome:
                names = matching_files(top, pattern, context, work)
                return listing([context.places.shown(name) for name in names], DEFAULT_RESULTS)

            return run_callable(self.name, act)
        # Opening a session, which waits for this module, would wait for that one as well.
        from runtimes.radian.tools.found import Found

        work = ripgrep_work(program, ("--files",), top, context, glob_below(top, pattern))

        found = Found(context, DEFAULT_RESULTS, "\0")

        def finish(end: StepEnd) -> ToolOutcome:
            return search_outcome(end, found, DEFAULT_RESULTS)

        return ToolRun(work, finish, found.hear, TIMEOUT_S)


def _split(pattern: str, path: str) -> tuple[str, str]:
    """Return the folder to look in and a pattern relative to it."""
    if ".." in pattern.split("/") or "\0" in pattern:
        message = "a pattern can't have .. in it: name the folder by path"
        raise ToolFailedError(message)
    if not pattern.startswith(("/", "~/")):
        return path, pattern.removeprefix("./")
    fixed = re.split(r"[*?\[{]", pattern, maxsplit=1)[0]
    folder = os.path.dirname(fixed)
    return folder or "/", pattern[len(folder) :].lstrip("/")
