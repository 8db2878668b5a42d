"""Finding programs of other people: never in a workspace, never by the current folder."""

from __future__ import annotations

import os
import sys


def on_path(name: str, workspace: str) -> str | None:
    """Return the program in the absolute folders of our own PATH that are not in ``workspace``.

    Those of an environment that a project has (``.venv/bin``, ``node_modules/.bin``) often are on
    PATH, and what a command in the sandbox has put there must not be run out of it.
    """
    inside = os.path.join(os.path.realpath(workspace), "")
    return _first(name, os.get_exec_path(), inside)


def ripgrep(workspace: str) -> str | None:
    """Return ``rg``: the one that was installed beside us, else the one on PATH."""
    folders = (os.path.dirname(sys.executable), os.path.join(sys.prefix, "bin"))
    return _first("rg", folders) or on_path("rg", workspace)


def shell() -> str:
    """Return bash, whose language models write, else the shell that is always there."""
    return _first("bash", ("/bin", "/usr/bin", "/usr/local/bin")) or "/bin/sh"


def _first(name: str, folders: tuple[str, ...] | list[str], apart: str = "") -> str | None:
    for folder in folders:
        path = os.path.join(folder, name)
        real = os.path.realpath(path)
        if apart not in {"", "/"} and (real.startswith(apart) or path.startswith(apart)):
            continue
        if os.path.isabs(path) and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None
