"""Signals that end a server: handlers only leave a note, the main thread acts on it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def end_at_once() -> None:
    """Until there is anything to end in order, exit with 128+n and no traceback.

    Also take back that children need no burial, which some launchers leave to their children: then
    nobody could learn how a step or git ended.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in ENDING:
        signal.signal(number, _exit)


def note(leave: Callable[[int], None]) -> None:
    """From now on call ``leave`` with the signal's number; it must be safe in a handler."""

    def handler(number: int, frame: FrameType | None) -> None:
        del frame
        leave(number)

    for number in ENDING:
        signal.signal(number, handler)


def ring(fd: int) -> None:
    """From now on write a byte to ``fd`` whenever a signal comes, whichever thread it lands in."""
    signal.set_wakeup_fd(fd, warn_on_full_buffer=False)


def telling(numbers: Iterable[int]) -> int | None:
    """Return which of the signals an exit code tells: the first that is no Ctrl-C, if any."""
    heard = list(numbers)
    return next((each for each in heard if each != signal.SIGINT), heard[0] if heard else None)


def _exit(number: int, frame: FrameType | None) -> None:
    del frame
    os._exit(128 + number)
