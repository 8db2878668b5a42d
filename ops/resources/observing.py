"""Looking at many resources side by side, in the end at each: a cancel is an observation, too."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ops.resources.reader import Look, Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.resources.reader import Stopping
    from ops.resources.resource import Resource

SIDE_BY_SIDE = 8
"""Readers wait for other programs and machines, so a few threads make a minute of it a second."""


def observe(
    resources: Mapping[str, Resource], root: str, environ: Mapping[str, str], cancel: Stopping
) -> dict[str, Observation]:
    """Look at each resource and return what was seen, by name.

    Ends soon after ``cancel``, and when it is interrupted by a signal's exception.
    """
    from concurrent.futures import ThreadPoolExecutor

    stop = _Stop()
    cancel.on_cancel(stop.set)

    def look(resource: Resource) -> Observation:
        return resource.reader.read(
            resource.keys, Look(root, environ, stop, timeout_s=resource.timeout_s)
        )

    with ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="reader") as pool:
        try:
            return dict(zip(resources, pool.map(look, resources.values()), strict=True))
        except BaseException:
            stop.set()
            raise


class _Stop:
    """A cancel of our own: the caller's may be one that only a signal can set."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False
        self._callbacks: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        with self._lock:
            self._set = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if not self._set:
                self._callbacks.append(callback)
                return
        callback()
