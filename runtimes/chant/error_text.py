"""How an error is told on the command line, the same for every verb.  Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.errors import OpsError


def error_line(verb: str, reason: str) -> str:
    """Return what a person reads on stderr."""
    return f"chant {verb}: {reason}\n"


def failure_document(code: int, reason: str) -> Mapping[str, Any]:
    """Return what --json prints where there is nothing else to print."""
    return {"error": reason, "exit_code": code}


def reason_of(error: OpsError | OSError) -> str:
    """Say what was refused, by us or by the system."""
    return system_reason(error) if isinstance(error, OSError) else str(error)


def system_reason(error: OSError) -> str:
    """Say what the system refused, without its number."""
    said = error.strerror or str(error)
    return said if error.filename is None else f"{said}: {os.fsdecode(error.filename)!r}"
