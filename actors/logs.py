"""Logging: one sink, stderr or a file, made when the first line is due.

loguru takes some 40 ms to import, more than the whole rest of a start, so nothing imports it
before there is something to say.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from loguru import Logger

    Log: TypeAlias = "Logger | _Bare"

LEVEL_VARIABLE = "CHANTRY_LOG"
"""Names the lowest level that is written; WARNING when unset."""

STDERR = 2
STDERR_PATH = "/proc/self/fd/2"

LEVELS = ("TRACE", "DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "CRITICAL")


def _write(text: str) -> None:
    """Write to stderr; one that is closed, or full because nobody reads it, must not hurt (X10)."""
    with suppress(OSError):
        fd = _stderr_that_never_blocks()
        try:
            os.write(fd, text.encode("utf-8", "replace"))
        finally:
            if fd != STDERR:
                os.close(fd)


def _stderr_that_never_blocks() -> int:
    """Open a pipe or terminal once more: the flag on descriptor 2 would be our parent's too."""
    mode = os.fstat(STDERR).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)) or not os.path.exists(STDERR_PATH):
        return STDERR
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    return os.open(STDERR_PATH, flags)


class _Lines:
    """What a command line has asked of the log."""

    level = ""
    """Empty: the variable decides."""
    fd = STDERR
    mask: Callable[[str], str] | None = None
    muted = False
    """A simulation runs: nobody reads what its servers say."""


_lines = _Lines()
_ready: list[Logger] = []
_setting_up = threading.Lock()


def direct(wanted: str, fd: int | None) -> None:
    """Write lines from ``wanted`` on (empty: the usual level), to ``fd`` if there is one."""
    _lines.level = wanted if wanted in LEVELS else ""
    _lines.fd = STDERR if fd is None else fd
    _ready.clear()
    carry_stdlib()


def mask_lines(mask: Callable[[str], str]) -> None:
    """Have ``mask`` take secrets out of each line from now on; any thread may call it."""
    _lines.mask = mask


def _write_line(text: str) -> None:
    masked = text if _lines.mask is None else _lines.mask(text)
    if _lines.fd == STDERR:
        _write(masked)
        return
    with suppress(OSError):
        os.write(_lines.fd, masked.encode("utf-8", "replace"))


def level() -> str:
    """Return the wanted level's name; an unknown one counts as WARNING."""
    wanted = _lines.level or os.environ.get(LEVEL_VARIABLE, "").upper()
    return wanted if wanted in LEVELS else "WARNING"


def debug_wanted() -> bool:
    """Tell whether DEBUG lines are asked for."""
    return level() in {"TRACE", "DEBUG"}


class _Bare:
    """Logs without loguru, which can't be read just now: no descriptor is left, say."""

    def __init__(self, error: object = None) -> None:
        self._error = error

    def opt(self, *, exception: object = None) -> _Bare:
        return _Bare(exception)

    def log(self, name: str, form: str, *values: object) -> None:
        known = name if name in LEVELS else "WARNING"
        if LEVELS.index(known) >= LEVELS.index(level()) and not _lines.muted:
            error = self._error
            why = f": {type(error).__name__}: {error}" if isinstance(error, Exception) else ""
            _write_line(f"{name} | {form.format(*values)}{why}\n")

    def error(self, form: str, *values: object) -> None:
        self.log("ERROR", form, *values)

    def debug(self, form: str, *values: object) -> None:
        self.log("DEBUG", form, *values)


def log() -> Log:
    """Return the logger.  Never raises: who has to tell of trouble must live on."""
    try:
        return full_log()
    except (ImportError, OSError):
        return _Bare()


def full_log() -> Logger:
    """Return the logger, set up once.

    Raises:
        OSError, ImportError: It can't be read.

    """
    if not _ready:
        from loguru import logger

        with _setting_up:  # two threads that did it would write each line twice
            if not _ready:
                logger.remove()
                # diagnose prints the value of every local in a traceback: prompts, keys, files.
                logger.add(
                    _write_line, level=level(), diagnose=False, backtrace=False, colorize=False
                )
                _ready.append(logger)
    return _ready[0]


def mute() -> None:
    """Write nothing from now on, for simulations, where crashes are daily bread."""
    _lines.muted = True
    from loguru import logger

    logger.remove()
    _ready[:] = [logger]


def carry_stdlib() -> None:
    """Send the standard library's log records to the same sink."""
    from actors.stdlib_records import send_records  # no answer waits for that library

    send_records(log, level())


def say(text: str) -> None:
    """Write one line that people must see on stderr, whatever the log level."""
    tell(f"{os.path.basename(sys.argv[0] or 'chantry')}: {text}\n")


def tell(text: str) -> None:
    """Write lines that people must see on stderr as they are; never waits, never raises."""
    if not _lines.muted:
        _write(text)
