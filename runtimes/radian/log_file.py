"""Where the log goes: stderr, or a file that only its owner can read; never stdout."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from actors.logs import direct
from runtimes.radian.flags import FlagsMisused

if TYPE_CHECKING:
    from runtimes.radian.options import ConversationOptions

STDOUT = 1
FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
"""Several processes may share a file: each line is one write at its end."""
OWNERS_ONLY = 0o600


def start_log(options: ConversationOptions) -> None:
    """Let the log be as the flags say, from its first line on.

    Raises:
        FlagsMisused: The file can't be written, or is this process's stdout.

    """
    direct(options.log_level, _opened(options.log_file) if options.log_file else None)


def _opened(path: str) -> int:
    try:
        fd = _beyond_stdio(os.open(path, FLAGS, OWNERS_ONLY))
        found = os.fstat(fd)
        if stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) != OWNERS_ONLY:
            os.fchmod(fd, OWNERS_ONLY)
    except OSError as error:
        message = f"--log-file {path}: {error.strerror}"
        raise FlagsMisused(message) from error
    if _is_stdout(found):
        os.close(fd)
        message = f"--log-file {path}: this is stdout, which has no room for a log"
        raise FlagsMisused(message)
    return fd


def _beyond_stdio(fd: int) -> int:
    """Return it under a number from 3 on: a lower one is free only if we were started without."""
    if fd > 2:  # noqa: PLR2004 - stdin, stdout, stderr
        return fd
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(fd)
    return moved


def _is_stdout(found: os.stat_result) -> bool:
    with suppress(OSError):  # it is closed
        ours = os.fstat(STDOUT)
        null = os.stat(os.devnull)
        return os.path.samestat(found, ours) and not os.path.samestat(found, null)
    return False
