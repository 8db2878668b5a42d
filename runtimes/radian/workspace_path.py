"""Which folder a session works in: one that its journal can name."""

from __future__ import annotations

import os

from runtimes.radian.flags import FlagsMisused


class WorkspaceUnusable(FlagsMisused):
    """No session can be had in a folder; the message says why."""


def current_folder() -> str:
    """Return the current folder, absolute and without links.

    Raises:
        WorkspaceUnusable: It is gone, or has no name.

    """
    try:
        return usable(os.path.realpath(os.getcwd()))
    except FileNotFoundError as error:
        message = "the current folder is gone"
        raise WorkspaceUnusable(message) from error


def usable(path: str) -> str:
    """Return ``path``, a workspace without links, if a journal can name it.

    Raises:
        WorkspaceUnusable: It is no UTF-8: a session in it could not be found again.

    """
    try:
        path.encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(path).decode("utf-8", "replace")
        message = f"the folder {shown!r} can't be a workspace: its name is no UTF-8"
        raise WorkspaceUnusable(message) from error
    return path
