"""A simulated model: a stream of chunks with pauses that may fail, stall, or be slow to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.model_call import ModelRequest
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from actors.simulation.book import Book
    from actors.simulation.platform import SimPlatform
    from actors.work import CancelToken

FOREVER_S = 100_000.0


class StreamScript(NamedTuple):
    """What a provider sends."""

    chunks: int = 3
    pause: float = 0.0
    """Seconds before each chunk."""
    fails_after: int = -1
    """Chunks before it breaks; negative: it does not."""
    stalls_after: int = -1
    """Chunks before nothing more comes."""
    slow_stop: float = 0.0
    """Seconds that closing takes after a cancel."""


class BrokenStream(Exception):  # noqa: N818 - an ordinary event of networks
    """The connection to the model broke."""


def simulated_request(
    script: StreamScript,
    platform: SimPlatform,
    book: Book,
    tag: str,
    render: Callable[[Any], Iterable[Any]],
) -> ModelRequest:
    """Return a request whose stream follows ``script``; chunks are texts."""

    def open_stream(cancel: CancelToken) -> Iterator[str]:
        book.step_began(tag)
        try:
            yield from _chunks(script, cancel)
        finally:
            if cancel.is_set() and script.slow_stop and not platform.scheduler.over:
                platform.sleep(script.slow_stop)
            book.step_ended(tag)

    return ModelRequest(open_stream, render)


def _chunks(script: StreamScript, cancel: CancelToken) -> Iterator[str]:
    for number in range(script.chunks):
        if number == script.fails_after:
            message = f"the stream broke after {number} chunks"
            raise BrokenStream(message)
        pause = FOREVER_S if number == script.stalls_after else script.pause
        if pause and cancel.wait(pause):
            return
        yield f"c{number} "
