"""`python`: call a function of the project in a process of its own, which can be killed."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

from ops.activities.places import variables, working_folder
from ops.errors import ActivityFailed
from ops.work import ProcessWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker_main.py")
CALL = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

PIECE_CHARS = 100_000
"""Linux refuses an argument over 128 KiB, but takes many of them."""


def prepare(args: Mapping[str, Any], context: ActivityContext) -> ProcessWork:
    """Return the process that calls ``call`` with ``args`` as keyword arguments."""
    call = args["call"]
    if not CALL.fullmatch(call):
        msg = f"call must be module:function, not {call!r}"
        raise ActivityFailed(msg)
    text = json.dumps(args.get("args", {}))
    pieces = [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)]
    # -I: only the worker says what is on the path.
    argv = (sys.executable, "-I", WORKER, context.cwd, call, *pieces)
    folder, env = working_folder(args, context), variables(args, context)
    return ProcessWork(argv, folder, env, reports=True)
