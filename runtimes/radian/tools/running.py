"""What several tools share: a callable as a run, requests for files, titles of one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.work import CallableWork
from runtimes.radian.permissions import GrantKey, Request
from runtimes.radian.tools.base import ToolFailedError, ToolRun, failure, returned

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.work import WorkContext
    from runtimes.radian.permissions import Action
    from runtimes.radian.tools.base import ToolContext, ToolOutcome
    from runtimes.radian.tools.places import Place

MAX_TITLE_CHARS = 120


def run_callable(name: str, act: Callable[[WorkContext], ToolOutcome]) -> ToolRun:
    """Return a run whose failures, expected ones, are its outcome."""

    def run(work: WorkContext) -> ToolOutcome:
        try:
            return act(work)
        except ToolFailedError as error:
            return failure(str(error))
        except OSError as error:
            return failure(os_reason(error))

    return ToolRun(CallableWork(name, run), returned)


def os_reason(error: OSError) -> str:
    """Say what the system refused, and for which file."""
    what = error.strerror or str(error)
    return f"{error.filename}: {what}" if error.filename else what


def file_request(tool: str, action: Action, place: Place, context: ToolContext) -> Request:
    """Return the request for one path; ``allow_always`` covers the files of its folder."""
    places = context.places
    folder = place.path.rpartition("/")[0] or "/"
    reading = action == "read"
    return Request(
        tool,
        action,
        place.path,
        alias=place.alias,
        zone=place.zone,
        roots=(places.workspace, *places.readable) if reading else (places.workspace,),
        grant=GrantKey(tool, folder, f"{tool} for files in {places.shown(folder)}"),
    )


def one_line(text: str, limit: int = MAX_TITLE_CHARS) -> str:
    """Return the first line of a text, without control characters and not too long."""
    lines = text.strip().splitlines() or [""]
    line = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in lines[0]
    )
    cut = len(line) > limit or len(lines) > 1
    return line[: limit - 1] + "…" if cut else line
