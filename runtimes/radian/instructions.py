"""``AGENTS.md``: what a person, or a project that is trusted, wants the agent to know."""

from __future__ import annotations

import os

from actors.faults import NoFaults
from runtimes.radian.tools.base import ToolFailedError
from runtimes.radian.tools.disk import open_regular
from runtimes.radian.tools.places import lies_in

FILE = "AGENTS.md"
MAX_BYTES = 64 * 1024
CUT = "\n(The file is longer; the rest is left out.)"


def instructions_in(folder: str) -> str:
    """Return the instructions in a folder (absolute, without links), "" if there are none.

    A link that leads out of the folder is passed over: it could show the model anything.
    """
    path = os.path.realpath(os.path.join(folder, FILE))
    if not lies_in(path, folder):
        return ""
    try:
        with os.fdopen(open_regular(path, NoFaults()), "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ToolFailedError):
        return ""  # the usual case: there is none
    text = data[:MAX_BYTES].decode("utf-8", "replace").strip()
    return text + CUT if len(data) > MAX_BYTES else text
