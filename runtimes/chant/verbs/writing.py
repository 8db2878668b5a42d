"""Where a verb may write what it was given a path for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtimes.chant.verbs.verb import Surroundings


def path_to_write(around: Surroundings, given: str) -> str:
    """Return the absolute path that a person or a prompt has named.

    Raises:
        OpsError: A prompt names one outside of its session's folder, perhaps through a link.

    """
    path = os.path.join(around.cwd, given)
    if around.confined:
        home, real = os.path.realpath(around.cwd), os.path.realpath(path)
        if os.path.commonpath((home, real)) != home:
            from ops.errors import OpsError

            message = (
                f"{given} is outside of the session's folder, {around.cwd}: a prompt writes only"
                " below it; name a file there, or run the command in a terminal"
            )
            raise OpsError(message)
    return path
