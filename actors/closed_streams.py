"""Standard streams: those that were closed before we were started, and what they carry."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from errno import EPIPE
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from typing_extensions import Buffer


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


def print_leavable(program: str, command: Callable[[], int]) -> int:
    """Return the code of ``command``, which prints and is no turn; its reader may leave early.

    What it does and its code stay what they are then: ``chant list | head -1`` went as well as
    ``chant list``.  Output that is lost in another way is told, and the code is 1.
    """
    return _printed(program, command, _Leavable)


def print_watched(program: str, command: Callable[[], int]) -> int:
    """Return the code of ``command``, which is not to go on when nobody sees it: 1 then.

    It is ended by `OutputLost`, and what was lost is told, but for a reader that left.
    """
    return _printed(program, command, _Watched)


def _printed(program: str, command: Callable[[], int], kind: type[_Watched]) -> int:
    sys.stdout, sys.stderr = _replaced(sys.stdout, kind), _replaced(sys.stderr, kind)
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()  # at exit it would be too late to tell
    except OutputLost as lost:
        with suppress(OutputLost):
            if lost.errno != EPIPE:
                sys.stderr.write(f"{program}: the output can't be written: {lost.strerror}\n")
        return 1


class OutputLost(OSError):  # noqa: N818 - says what happened
    """What was printed did not get where it should."""


class _Watched(io.FileIO):
    """A descriptor that is the null device's as soon as nothing can be written to it any more."""

    def write(self, data: Buffer, /) -> int:
        """Write ``data``.

        Raises:
            OutputLost: It can't be.

        """
        try:
            return super().write(data)
        except BlockingIOError:
            raise
        except OSError as error:
            # What is left in a buffer would be written once more at exit, and fail again.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            raise OutputLost(error.errno, error.strerror) from error


class _Leavable(_Watched):
    """One whose reader may leave: what is written then is lost."""

    def write(self, data: Buffer, /) -> int:
        """Write ``data``, or lose it.

        Raises:
            OutputLost: Not because its reader has left.

        """
        try:
            return super().write(data)
        except OutputLost as lost:
            if lost.errno != EPIPE:
                raise
            return super().write(data)


def _replaced(stream: TextIO, kind: type[_Watched]) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):  # closed, or a test's
        return stream
    stream.flush()
    raw = kind(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        # One that is not buffered (PYTHONUNBUFFERED) is not said to be so by line.
        line_buffering=stream.line_buffering or stream.write_through,
    )


def _stand_in(flags: int, mode: str) -> TextIO:
    descriptor = os.open(os.devnull, flags)
    os.set_inheritable(descriptor, True)  # noqa: FBT003 - positional only
    return cast("TextIO", os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))
