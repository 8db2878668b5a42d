"""Finding programs of other people: never in a workspace, never by the current folder."""

from __future__ import annotations

import os
import sys


def on_path(name: str) -> str | None:
    """Return the program in the absolute folders of our own PATH."""
    return _first(name, os.get_exec_path())


def ripgrep() -> str | None:
    """Return ``rg``: the one that was installed beside us, else the one on PATH."""
    folders = (os.path.dirname(sys.executable), os.path.join(sys.prefix, "bin"))
    return _first("rg", folders) or on_path("rg")


def shell() -> str:
    """Return bash, whose language models write, else the shell that is always there."""
    return _first("bash", ("/bin", "/usr/bin", "/usr/local/bin")) or "/bin/sh"


def _first(name: str, folders: tuple[str, ...] | list[str]) -> str | None:
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None
