"""Where records of the standard library's logging go: to the one sink (`actors.logs`)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.logs import Log

_LEVELS = {"TRACE": "DEBUG", "SUCCESS": "INFO"}
"""loguru's own levels and the nearest one of the standard library."""


class _Carrier(logging.Handler):
    """Carries records of libraries over; they name no secret of ours.

    Not pykka's: an actor's crash is told by our own telemetry, under the actor's name.
    """

    def __init__(self, log: Callable[[], Log]) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "pykka":
            return
        self._log().opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())


def send_records(log: Callable[[], Log], level: str) -> None:
    """Hand records from ``level`` on (one of `actors.logs.LEVELS`) to ``log``."""
    logging.basicConfig(handlers=[_Carrier(log)], level=_LEVELS.get(level, level), force=True)
