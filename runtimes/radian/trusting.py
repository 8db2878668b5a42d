"""``radian trust``: which projects may bring instructions of their own."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal, TypeAlias

from runtimes.models.credentials import radian_home
from runtimes.radian.exit_codes import FAILED, OK, USAGE
from runtimes.radian.home import trust_file_of
from runtimes.radian.trust import TrustInvalidError
from runtimes.radian.workspace_path import WorkspaceUnusable, usable

if TYPE_CHECKING:
    from collections.abc import Mapping

Wish: TypeAlias = Literal["trust", "distrust", "forget", "show"]


def trust(folder: str, wish: Wish, environ: Mapping[str, str]) -> int:
    """Change or show what holds for a folder and return the exit code."""
    file = trust_file_of(radian_home(environ))
    try:
        path = usable(os.path.realpath(folder))
    except WorkspaceUnusable as error:
        sys.stderr.write(f"radian trust: {error}\n")
        return USAGE
    # One that is gone can still be listed; no name at all is a variable that nobody set.
    if not folder or (wish != "forget" and not os.path.isdir(path)):
        sys.stderr.write(f"radian trust: {folder or repr(folder)} is no folder\n")
        return USAGE
    try:
        match wish:
            case "forget":
                there = file.forget(path)
                said = f"{path} is forgotten." if there else f"{path} was not listed."
            case "show":
                said = _shown(path, file.look_up(path).trusted, file.look_up(path).listed)
            case _:
                trusted = wish == "trust"
                listed = file.save(path, trusted=trusted)
                said = f"{listed} is {'trusted' if trusted else 'not trusted'} from now on."
    except TrustInvalidError as error:
        sys.stderr.write(f"radian trust: {error}\n")
        return FAILED
    except OSError as error:
        sys.stderr.write(f"radian trust: the trust file can't be written: {error.strerror}\n")
        return FAILED
    sys.stdout.write(f"{said}\n")
    return OK


def _shown(path: str, trusted: bool, listed: str | None) -> str:  # noqa: FBT001 - one of a pair
    word = "trusted" if trusted else "not trusted"
    if listed is None:
        return f"{path} is {word}: it is not listed, nor is a folder above it."
    return f"{path} is {word}" + ("." if listed == path else f", as {listed} is.")
