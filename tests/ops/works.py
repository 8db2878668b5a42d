"""A step's surroundings for activities: a token one can set, output one can read."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ops.activities import activity
from ops.work import ActivityContext, CallableWork, ProcessWork

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ops.events import Stream


@dataclass
class Token:
    """A cancel token on a plain event."""

    event: threading.Event = field(default_factory=threading.Event)
    callbacks: list[Callable[[], None]] = field(default_factory=list)

    def is_set(self) -> bool:
        return self.event.is_set()

    def wait(self, timeout_s: float) -> bool:
        return self.event.wait(timeout_s)

    def on_cancel(self, callback: Callable[[], None]) -> None:
        self.callbacks.append(callback)
        if self.event.is_set():
            callback()

    def set(self) -> None:
        self.event.set()
        for callback in self.callbacks:
            callback()


@dataclass
class Context:
    """What a callable step sees.  ``on_emit`` is called with each piece of output."""

    cancel: Token = field(default_factory=Token)
    said: list[tuple[Stream, str]] = field(default_factory=list)
    on_emit: Callable[[], None] = lambda: None

    def emit(self, stream: Stream, text: str) -> None:
        self.said.append((stream, text))
        self.on_emit()

    def monotonic(self) -> float:
        return time.monotonic()


def run(fn: str, folder: Path, context: Context | None = None, **args: Any) -> Any:
    work = activity(fn).prepare(args, ActivityContext(str(folder), {"PATH": "/usr/bin:/bin"}))
    assert isinstance(work, CallableWork)
    return work.run(context or Context())


def process(fn: str, folder: Path, **args: Any) -> ProcessWork:
    work = activity(fn).prepare(args, ActivityContext(str(folder), {"PATH": "/usr/bin:/bin"}))
    assert isinstance(work, ProcessWork)
    return work
