"""`exec`: a program with its arguments, found on PATH, with no shell between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.activities.places import variables, working_folder
from ops.work import ProcessWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext


def prepare(args: Mapping[str, Any], context: ActivityContext) -> ProcessWork:
    """Return the program to run."""
    return ProcessWork(tuple(args["argv"]), working_folder(args, context), variables(args, context))
