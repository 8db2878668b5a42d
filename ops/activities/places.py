"""Where and with which variables an activity works: its ``cwd`` and ``env`` args, resolved."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext


def working_folder(args: Mapping[str, Any], context: ActivityContext) -> str:
    """Return the folder to work in, absolute."""
    return os.path.join(context.cwd, args.get("cwd", ""))


def variables(args: Mapping[str, Any], context: ActivityContext) -> dict[str, str]:
    """Return the whole environment: the run's, then the step's own ``env``."""
    return {**context.env, **args.get("env", {})}


def unasked(args: Mapping[str, Any], context: ActivityContext) -> dict[str, str]:
    """Return the whole environment for git, which must not wait for a person's password."""
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
    return {**quiet, **variables(args, context)}
