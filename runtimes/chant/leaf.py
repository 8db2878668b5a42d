"""Our own functions on leaf threads: a bug in one must be found in the log, not on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from actors.logs import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.work import WorkContext

T = TypeVar("T")


def logged(name: str, function: Callable[[WorkContext], T]) -> Callable[[WorkContext], T]:
    """Return ``function`` with what it raises logged on the way out."""

    def run(context: WorkContext) -> T:
        try:
            return function(context)
        except Exception as error:
            log().opt(exception=error).error("{} failed", name)
            raise

    return run
