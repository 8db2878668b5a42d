"""Stewards: whose turn a process works in, and what that steward may do.  Pure.

A process learns it from its environment alone, so everything that a steward's turn starts is part
of that turn too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.errors import OpsError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.project import Project, Steward

STEWARD = "CHANT_STEWARD"
"""Names the steward in whose turn a process runs; unset or empty: nobody's."""


class StewardUnknown(OpsError):  # noqa: N818 - the tree names what happened
    """A steward that the project does not declare."""


def steward_of(environ: Mapping[str, str]) -> str | None:
    """Return the steward in whose turn a process with ``environ`` works."""
    return environ.get(STEWARD) or None


def find_steward(project: Project, name: str) -> Steward:
    """Return a declared steward.

    Raises:
        StewardUnknown: There is none of that name; the message lists those that there are.

    """
    found = project.stewards.get(name)
    if found is None:
        raise StewardUnknown(unknown("steward", name, project.stewards))
    return found


def capabilities_of(project: Project, name: str | None) -> tuple[str, ...]:
    """Return what a steward names in this project: nothing if it is not declared here."""
    found = project.stewards.get(name or "")
    return found.capabilities if found else ()
