"""Whose turns a process works in: a declared steward's, and of everything that it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.errors import OpsError
from ops.project import find_project
from ops.stewards import STEWARD, find_steward, steward_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class StewardNested(OpsError):  # noqa: N818 - the tree names what happened
    """The process works for another steward already."""


def steward_environ(name: str, cwd: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process whose every turn is the steward's.

    Raises:
        OpsError: There is no project at ``cwd``, it does not declare the steward, or this process
            is part of another steward's turn: one must not borrow the capabilities of the other.

    """
    inside = steward_of(environ)
    if inside is not None and inside != name:
        message = f"this is the turn of steward {inside}, which can't act as steward {name}"
        raise StewardNested(message)
    steward = find_steward(find_project(cwd), name)
    return {**environ, STEWARD: steward.name}
