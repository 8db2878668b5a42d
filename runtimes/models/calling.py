"""Calls a model until there is an answer: retries, waits that a cancel ends, and assembly.

Light to import: what it takes to reach a provider is loaded by the provider's first call.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TypeAlias

from protocol.named_tuple import NamedTuple
from protocol.values import frozen
from runtimes.models.answer import Answer, Assembly, CallError
from runtimes.models.base import (
    CallFailed,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
)
from runtimes.models.retry import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from runtimes.models.base import Cancel, ModelRequest, Provider
    from runtimes.models.retry import RetryPolicy

NO_END = CallFailed("the provider gave no end of its answer", retry=True)


@frozen
class Retrying:
    """An attempt has failed; the next one, number ``attempt``, comes in ``delay_ms``.

    What its predecessor showed is void.
    """

    attempt: int
    delay_ms: int
    cause: str
    http_status: int | None = None


CallEvent: TypeAlias = TextDelta | ReasoningDelta | Retrying | Answer


class _Attempt(NamedTuple):
    """How one attempt ended; ``end`` None: cancelled."""

    assembly: Assembly
    end: Finished | CallFailed | None
    took_s: float
    first_s: float | None


def call_model(
    provider: Provider,
    request: ModelRequest,
    cancel: Cancel,
    *,
    policy: RetryPolicy = STANDARD,
    clock: Callable[[], float] = time.monotonic,
    chance: Callable[[], float] | None = None,
) -> Iterator[CallEvent]:
    """Yield what is to be shown, and at last one `Answer`, also after a cancel.

    ``clock``: seconds, monotonic.  ``chance``: a number in 0 to 1, for the waits.  Waits on the
    caller's thread; ends soon after ``cancel`` was set.  What a provider raises passes through.
    """
    began_s, model_s, notes = clock(), 0.0, list[str]()
    for number in range(1, policy.max_attempts + 1):
        attempt = yield from _attempt(provider, request, cancel, clock)
        model_s += attempt.took_s
        notes += attempt.assembly.notes
        wait_s = None
        if isinstance(attempt.end, CallFailed):
            roll = (chance or _chance)()
            wait_s = policy.wait_s(attempt.end, number, clock() - began_s, roll)
        if wait_s is None or not isinstance(attempt.end, CallFailed):
            yield _answer(attempt, model_s, notes, number - 1)
            return
        failed = attempt.end
        yield Retrying(number + 1, round(wait_s * 1000), failed.message, failed.status)
        if cancel.wait(wait_s):
            cancelled = _Attempt(Assembly(), None, 0.0, None)
            yield _answer(cancelled, model_s, notes, number)
            return


def _attempt(
    provider: Provider, request: ModelRequest, cancel: Cancel, clock: Callable[[], float]
) -> Generator[CallEvent, None, _Attempt]:
    assembly = Assembly()
    sent_s = clock()
    first_s: float | None = None
    for event in provider.stream(request, cancel):
        if isinstance(event, CallFailed) and cancel.is_set():
            break  # the cancel made it fail
        if isinstance(event, Finished | CallFailed):
            return _Attempt(assembly, event, clock() - sent_s, first_s)
        shown = assembly.take(event)
        if first_s is None and (shown or isinstance(event, ToolCalled)):
            first_s = clock() - sent_s
        if shown and isinstance(event, TextDelta | ReasoningDelta):
            yield event
    end = None if cancel.is_set() else NO_END
    return _Attempt(assembly, end, clock() - sent_s, first_s)


def _answer(attempt: _Attempt, model_s: float, notes: list[str], retries: int) -> Answer:
    assembly, end = attempt.assembly, attempt.end
    failed = end if isinstance(end, CallFailed) else None
    finish = "cancelled" if end is None else end.reason if isinstance(end, Finished) else "broken"
    return Answer(
        parts=assembly.parts(calls=failed is None),
        finish=finish,
        detail=end.detail if isinstance(end, Finished) else "",
        usage=assembly.usage,
        error=None if failed is None else _error(failed),
        dropped=tuple(assembly.dropped),
        notes=tuple(dict.fromkeys(notes)),
        retries=retries,
        model_ms=round(model_s * 1000),
        ttft_ms=None if attempt.first_s is None else round(attempt.first_s * 1000),
    )


def _error(failed: CallFailed) -> CallError:
    return CallError(
        failed.message, failed.origin, failed.retry, failed.status, failed.context_overflow
    )


def _chance() -> float:
    return int.from_bytes(os.urandom(4), "big") / 2**32
