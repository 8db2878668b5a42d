"""`git_push`: push branches or tags with git itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.activities.places import unasked, working_folder
from ops.work import ProcessWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext


def prepare(args: Mapping[str, Any], context: ActivityContext) -> ProcessWork:
    """Return ``git push``: all of the refs or none of them, and never by force alone."""
    force = ("--force-with-lease",) if args.get("force_with_lease") else ()
    argv = ("git", "push", "--atomic", *force, "--", args.get("remote", "origin"), *args["refs"])
    return ProcessWork(argv, working_folder(args, context), unasked(args, context))
