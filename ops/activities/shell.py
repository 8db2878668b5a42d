"""`shell`: a command line for /bin/sh.  Values reach it as variables, never as text inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.activities.places import variables, working_folder
from ops.work import ProcessWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext


def prepare(args: Mapping[str, Any], context: ActivityContext) -> ProcessWork:
    """Return the shell that runs ``cmd``."""
    argv = ("/bin/sh", "-c", args["cmd"])
    return ProcessWork(argv, working_folder(args, context), variables(args, context))
