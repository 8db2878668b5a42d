"""The errors of `ops` that a person reads: each message is complete and shown as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class OpsError(Exception):
    """Something the user can mend.  ``str(error)`` names the thing, the place and the choices."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ProjectNotFound(OpsError):  # noqa: N818 - the tree names what happened
    """No chant.toml and no git checkout, from the folder upward."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"no project at {folder}: no chant.toml and no git checkout here or in a folder above;"
            " chant init begins one"
        )


class ProjectInvalid(OpsError):  # noqa: N818
    """chant.toml can't be used; the message has its findings, one a line."""


class EnvUnknown(OpsError):  # noqa: N818
    """An environment that the project, or the Op, does not declare."""


class OpNotFound(OpsError):  # noqa: N818
    """No Op of that name; the message lists those that there are."""


class OpInvalid(OpsError):  # noqa: N818
    """The Op has findings, so nothing of it may run; one a line."""


class ParamInvalid(OpsError):  # noqa: N818
    """A parameter is missing, unknown, or of the wrong type."""


class ActivityFailed(OpsError):  # noqa: N818
    """A step could not do its work; the message is the step's error."""


class LedgerError(OpsError):
    """The ledger could not be read or written."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that ``name`` was probably meant to be."""
    import difflib

    found = difflib.get_close_matches(name, sorted(known), n=1)
    return found[0] if found else None


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Word an unknown name: what it is, the nearest known one, and all that are known."""
    names = sorted(known)
    close = nearest(name, names)
    hint = f" (did you mean {close}?)" if close else ""
    listed = f"known: {', '.join(names)}" if names else "there are none"
    return f"unknown {what} {name!r}{hint}; {listed}"
