"""Where files may be read and written: the workspace, further roots, what is shut.

Links are resolved before anything is judged, and again when a call runs.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from protocol.values import frozen
from runtimes.radian.patterns import path_matches
from runtimes.radian.tools.base import LEADS_ELSEWHERE, ToolFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runtimes.radian.permissions import Zone

PROTECTED = (".git", ".radian")
"""Folders of a workspace whose content can make other programs run something."""


@frozen
class Place:
    """A path of a call: ``path`` without links, ``alias`` as it was asked for, both absolute."""

    path: str
    alias: str
    zone: Zone


@frozen
class Places:
    """What a session may touch.  All paths are absolute and have no links in them."""

    workspace: str
    readable: tuple[str, ...] = ()
    """May be read as if inside: folders of skills, full outputs."""
    secret: tuple[str, ...] = ()
    """See `runtimes.radian.secret_set`."""
    unreadable: tuple[str, ...] = ()
    """Patterns of deny rules for reading, see `Rules.unreadable`."""

    def place(self, path: str, *, writing: bool = False) -> Place:
        """Look up a path of a call, relative to the workspace or absolute.

        Raises:
            ToolFailedError: It can't be a path.

        """
        if "\0" in path:
            message = "a path can't have a NUL in it"
            raise ToolFailedError(message)
        if path == "~" or path.startswith("~/"):
            path = os.path.expanduser(path)
        alias = os.path.normpath(os.path.join(self.workspace, path))
        real = os.path.realpath(os.path.join(self.workspace, path))
        return Place(real, alias, self.zone(real, writing=writing))

    def zone(self, real: str, *, writing: bool = False) -> Zone:
        """Judge a path without links: the innermost folder that says something counts."""
        secret = max((len(one) for one in self.secret if lies_in(real, one)), default=0)
        roots = (self.workspace,) if writing else (self.workspace, *self.readable)
        inside = max((len(one) for one in roots if lies_in(real, one)), default=0)
        if secret and secret >= inside:
            return "secret"
        if not inside:
            return "elsewhere"
        return "protected" if self.is_protected(real) else "inside"

    def is_protected(self, real: str) -> bool:
        """Tell whether a path lies in ``.git`` or ``.radian``, also of a repository further in."""
        names = os.path.relpath(real, self.workspace).split(os.sep)
        return any(name.casefold() in PROTECTED for name in names)

    def recheck(self, place: Place) -> None:
        """Refuse a path that leads elsewhere by now.

        Raises:
            ToolFailedError: It does.

        """
        if os.path.realpath(place.path) != place.path:
            message = f"{place.alias} {LEADS_ELSEWHERE}"
            raise ToolFailedError(message)

    def hides(self, real: str) -> bool:
        """Tell whether a search must pass over a path."""
        return self.zone(real) == "secret" or any(
            path_matches(pattern, real) for pattern in self.unreadable
        )

    def hidden_below(self, top: str) -> Iterator[str]:
        """Yield globs, absolute, of what a search below ``top`` must pass over."""
        for path in self.secret:
            if lies_in(path, top) and self.zone(path) == "secret":
                yield glob_escaped(path)
        for pattern in self.unreadable:  # with stars in it, it may mean something anywhere
            yield re.sub(r"([\\\[\]])", r"\\\1", pattern.removesuffix("/**"))

    def shown(self, path: str) -> str:
        """Return a path for people: relative where it lies in the workspace."""
        return os.path.relpath(path, self.workspace) if lies_in(path, self.workspace) else path


def lies_in(path: str, folder: str) -> bool:
    """Tell whether ``path`` is ``folder`` or below it; both are normal and absolute."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def glob_escaped(path: str) -> str:
    """Return the glob that means this path only."""
    return re.sub(r"([\\\[\]{}*?!])", r"\\\1", path)
