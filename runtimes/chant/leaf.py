"""Our own functions on leaf threads: a bug in one must be found in the log, not on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from actors.logs import log
from actors.turn import StartStep
from actors.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.work import Stream, WorkContext

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


def own_step(
    step_id: str, function: Callable[[WorkContext], Any], *, spared: bool = False
) -> StartStep:
    """Make a step of ours that prints nothing; ``spared``: see `actors.turn.StartStep`."""
    work = CallableWork(step_id, logged(step_id, function))
    return StartStep(step_id, work, _nothing, spared=spared)


def _nothing(stream: Stream, text: str) -> tuple[Any, ...]:
    del stream, text
    return ()
