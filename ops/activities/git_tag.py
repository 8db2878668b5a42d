"""`git_tag`: tag a commit with git itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.activities.places import unasked, working_folder
from ops.work import ProcessWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext


def prepare(args: Mapping[str, Any], context: ActivityContext) -> ProcessWork:
    """Return ``git tag``: annotated when there is a message."""
    force = ("--force",) if args.get("force") else ()
    message = ("--annotate", f"--message={args['message']}") if args.get("message") else ()
    argv = ("git", "tag", *force, *message, "--", args["name"], args.get("ref", "HEAD"))
    return ProcessWork(argv, working_folder(args, context), unasked(args, context))
