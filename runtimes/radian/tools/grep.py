"""`grep`: lines that match a regular expression, by ripgrep, else by our own walk."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from runtimes.radian.profiles import wants_sandbox
from runtimes.radian.tools.base import Location, Prepared, ToolFailedError, ToolRun, ToolView
from runtimes.radian.tools.programs import ripgrep
from runtimes.radian.tools.running import file_request, one_line, run_callable
from runtimes.radian.tools.searching import (
    DEFAULT_RESULTS,
    MAX_RESULTS,
    glob_below,
    listing,
    ripgrep_work,
    search_outcome,
)
from runtimes.radian.tools.walk import matching_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.work import StepEnd, WorkContext
    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolOutcome
    from runtimes.radian.tools.places import Place

TIMEOUT_S = 60.0


class Grep:
    """Searches the text of files."""

    name = "grep"
    kind: Kind = "search"
    read_only = True
    summary = (
        "Search files for lines that match a regular expression (Rust syntax). Passes over what "
        ".gitignore names and over binary files. Prints path:line:text."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "minLength": 1, "description": "Regular expression"},
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "File or folder to search; the workspace if absent",
            },
            "glob": {"type": "string", "minLength": 1, "description": "Only files like *.py"},
            "ignore_case": {"type": "boolean"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_RESULTS,
                "description": f"Lines at most; {DEFAULT_RESULTS} if absent",
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
        """Look where the search would go."""
        if "\0" in values["pattern"] + values.get("glob", ""):
            message = "a pattern can't have a NUL in it"
            raise ToolFailedError(message)
        place = context.places.place(values.get("path", "."))
        if place.zone in {"inside", "protected"} or not wants_sandbox(context.profile):
            _refuse_endless(place, context)
        request = file_request(self.name, "read", place, context)
        where = context.places.shown(place.path)
        title = one_line(f"Search {values['pattern']!r} in {where}")
        return Prepared(self.name, values, ToolView(title, (Location(place.path),)), request)

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the search."""
        del call_id
        values, top = prepared.input, prepared.request.target
        limit = values.get("limit", DEFAULT_RESULTS)
        program = None if self._walk else self._program or ripgrep(context.places.workspace)
        if program is None:
            return run_callable(self.name, lambda work: _walk(values, top, limit, context, work))
        # Opening a session, which waits for this module, would wait for that one as well.
        from runtimes.radian.tools.found import MAX_COLUMNS, FoundLines

        options = (
            "--line-number",
            "--no-heading",
            "--with-filename",
            f"--max-columns={MAX_COLUMNS}",
            "--max-columns-preview",
            "--max-filesize=32M",
            f"--max-count={limit + 1}",
            *(("--ignore-case",) if values.get("ignore_case") else ()),
            f"--regexp={values['pattern']}",
        )
        shown: str | None = values.get("glob")
        if shown is not None and "/" in shown:
            shown = glob_below(top, shown)
        work = ripgrep_work(program, options, top, context, shown)

        found = FoundLines(context, limit)

        def finish(end: StepEnd) -> ToolOutcome:
            return search_outcome(end, found, limit)

        return ToolRun(work, finish, found.hear, TIMEOUT_S)


def _refuse_endless(place: Place, context: ToolContext) -> None:
    """Refuse what is no file: a pipe would be waited for, and a device may never end."""
    if os.path.exists(place.path) and not (os.path.isfile(place.path) or os.path.isdir(place.path)):
        message = f"{context.places.shown(place.path)} is neither a file nor a folder"
        raise ToolFailedError(message)


def _walk(
    values: Input, top: str, limit: int, context: ToolContext, work: WorkContext
) -> ToolOutcome:
    try:
        flags = re.IGNORECASE if values.get("ignore_case") else 0
        pattern = re.compile(values["pattern"].encode(), flags)
    except re.error as error:
        message = f"the pattern is not valid: {error}"
        raise ToolFailedError(message) from error
    lines: list[str] = []
    for path, number, line in matching_lines(top, pattern, values.get("glob"), context, work):
        lines.append(f"{context.places.shown(path)}:{number}:{line}")
        if len(lines) > limit:
            break
    return listing(lines, limit)
