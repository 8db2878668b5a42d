"""Standard streams: those that were closed before we were started, and what they carry."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import TextIO


def stand_in_for_closed_streams() -> None:
    """Put something where stdin, stdout or stderr is closed; call it before anything is opened.

    The kernel gives out the lowest free number: a journal would become descriptor 1, and what is
    printed would go into it.  Stdin is at its end then, what goes to stderr is lost, and who writes
    to stdout gets an error, as nobody will ever read it.
    """
    if sys.stdin is None:  # in this order, so that each gets its own number
        sys.stdin = _stand_in(os.O_RDONLY, "r")
    if sys.stdout is None:
        sys.stdout = _stand_in(os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _stand_in(os.O_WRONLY, "w")


def print_utf8() -> None:
    """Have what is printed be UTF-8, whatever the locale: it is our data, and programs read it.

    A terminal keeps its encoding; what that can't carry is escaped.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _stand_in(flags: int, mode: str) -> TextIO:
    descriptor = os.open(os.devnull, flags)
    os.set_inheritable(descriptor, True)  # noqa: FBT003 - positional only
    return cast("TextIO", os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))
