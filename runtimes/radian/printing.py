"""What ``radian exec`` prints without a turn: lists, hits, transcripts, the id of a fork."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from runtimes.radian.exit_codes import OK
from runtimes.radian.home import sessions_of
from runtimes.radian.workspace_path import current_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtimes.radian.options import ConversationOptions
    from runtimes.radian.sessions import Sessions


def print_and_exit(
    command: str, given: Mapping[str, Any], options: ConversationOptions, home: str
) -> int:
    """Print what ``command`` asks for, of the sessions below ``home``; a reader may leave early.

    Raises:
        SessionError: A session can't be used.
        JournalError: The disk refused it.
        ExportExists: The file is there already.

    """
    sessions = sessions_of(home)
    workspace = options.workspace or current_folder()
    text = COMMANDS[command](sessions, workspace, given)
    if not text and command in NOTHING and sys.stderr.isatty():
        what = NOTHING[command].format(given.get(command))
        sys.stderr.write(f"radian exec: {what} of {workspace}, in {sessions.folder}\n")
    if command in NOTHING and given.get("format", "text") == "text":
        from runtimes.folding import folded_for

        text = folded_for(sys.stdout, text)
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # What is left in the buffer would be written once more at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _list(sessions: Sessions, workspace: str, given: Mapping[str, Any]) -> str:
    from runtimes.radian.session_lists import session_list

    return session_list(sessions.list(workspace), given.get("format", "text"))


def _search(sessions: Sessions, workspace: str, given: Mapping[str, Any]) -> str:
    from runtimes.radian.session_lists import hit_list
    from runtimes.radian.session_search import search

    return hit_list(search(sessions, workspace, given["search"]), given.get("format", "text"))


def _export(sessions: Sessions, workspace: str, given: Mapping[str, Any]) -> str:
    from runtimes.radian.session_cut import cut_at
    from runtimes.radian.session_export import Export, write_export

    loaded, data = sessions.read(given["export"], workspace)
    _warn(loaded.warnings)
    export = Export(
        loaded,
        data,
        cut_at(loaded.entries, given.get("at")),
        reasoning=given.get("include_reasoning", False),
        payload=given.get("include_provider_payload", False),
    )
    text = export.text(given.get("format", "markdown"))
    if "out" not in given:
        return text
    write_export(given["out"], text, force=given.get("force", False))
    return ""


def _fork(sessions: Sessions, workspace: str, given: Mapping[str, Any]) -> str:
    from ops.run_id import timestamp
    from runtimes.radian.ids import new_session_id
    from runtimes.radian.session_fork import fork_session
    from runtimes.version import VERSION

    now = time.time()
    new_id = given.get("session_id") or new_session_id(now, os.urandom(10))
    warnings = fork_session(
        sessions,
        given["fork"],
        new_id,
        workspace=workspace,
        version=VERSION,
        ts=timestamp(now),
        at=given.get("at"),
    )
    _warn(warnings)
    return f"{new_id}\n"


COMMANDS: Mapping[str, Callable[[Sessions, str, Mapping[str, Any]], str]] = {
    "list": _list,
    "search": _search,
    "export": _export,
    "fork": _fork,
}


NOTHING: Mapping[str, str] = {
    "list": "there is no session",
    "search": "no turn has all of {!r} in the sessions",
}
"""What a person is told who would be shown nothing."""


def _warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        sys.stderr.write(f"warning: {warning}\n")
