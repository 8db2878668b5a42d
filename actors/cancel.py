"""The cancel signal of one piece of work: set once, seen by everyone who sleeps on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.platform import Platform


class CancelSignal:
    """A `actors.work.CancelToken` with the other end: `set`."""

    def __init__(self, platform: Platform) -> None:
        """Start unset."""
        self._platform = platform
        self._changed = platform.condition()
        self._is_set = False
        self._callbacks: list[Callable[[], None]] = []

    def set(self) -> None:
        """Signal, wake sleepers and run the callbacks, once.  Never waits."""
        with self._changed:
            if self._is_set:
                return
            self._is_set = True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback()

    def is_set(self) -> bool:
        """Tell whether it was signalled."""
        return self._is_set

    def wait(self, timeout_s: float) -> bool:
        """Sleep up to ``timeout_s`` seconds; True as soon as it was signalled."""
        until = self._platform.monotonic() + timeout_s
        with self._changed:
            while not self._is_set:
                left_s = until - self._platform.monotonic()
                if left_s <= 0:
                    return False
                self._changed.wait(left_s)
            return True

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` on the signal, or at once when it was given; it must not wait."""
        with self._changed:
            if not self._is_set:
                self._callbacks.append(callback)
                return
        callback()
