"""Logging: one sink, stderr, made when the first line is due.

loguru takes some 40 ms to import, more than the whole rest of a start, so nothing imports it
before there is something to say.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loguru import Logger

LEVEL_VARIABLE = "CHANTRY_LOG"
"""Names the lowest level that is written; WARNING when unset."""

_STDLIB_LEVELS = {"TRACE": "DEBUG", "SUCCESS": "INFO"}
"""loguru's own levels and the nearest one of the standard library."""
_LEVELS = ("TRACE", "DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "CRITICAL")


def _write(text: str) -> None:
    """Write to descriptor 2; a stderr that is closed or full must never hurt (X10)."""
    with suppress(OSError):
        os.write(2, text.encode("utf-8", "replace"))


_ready: list[Logger] = []


def level() -> str:
    """Return the wanted level's name; an unknown one counts as WARNING."""
    wanted = os.environ.get(LEVEL_VARIABLE, "").upper()
    return wanted if wanted in _LEVELS else "WARNING"


def debug_wanted() -> bool:
    """Tell whether DEBUG lines are asked for."""
    return level() in {"TRACE", "DEBUG"}


def log() -> Logger:
    """Return the logger, set up once."""
    if not _ready:
        from loguru import logger

        logger.remove()
        # diagnose prints the value of every local in a traceback: prompts, keys, file contents.
        logger.add(_write, level=level(), diagnose=False, backtrace=False, colorize=False)
        _ready.append(logger)
    return _ready[0]


def mute() -> None:
    """Write no line of the logger from now on, for simulations, where crashes are daily bread."""
    from loguru import logger

    logger.remove()
    _ready[:] = [logger]


class _FromStdlib(logging.Handler):
    """Carries records of libraries over; they name no secret of ours.

    Not pykka's: an actor's crash is told by our own telemetry, under the actor's name.
    """

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "pykka":
            return
        log().opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())


def carry_stdlib() -> None:
    """Send the standard library's log records to the same sink."""
    logging.basicConfig(
        handlers=[_FromStdlib()], level=_STDLIB_LEVELS.get(level(), level()), force=True
    )


def say(text: str) -> None:
    """Write one line that people must see on stderr, whatever the log level."""
    _write(f"{os.path.basename(sys.argv[0] or 'chantry')}: {text}\n")
