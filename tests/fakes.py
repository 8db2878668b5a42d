"""Stand-ins that tests share.  They wait for events, never for a duration."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Running(Generic[T]):
    """A function on a thread of its own, and what came of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self, timeout_s: float = 10) -> T:
        """Wait for the end and return what the function returned, or raise what it raised."""
        error = self.error(timeout_s)
        if error is not None:
            raise error
        return self._result[0]

    def error(self, timeout_s: float = 10) -> BaseException | None:
        """Wait for the end and return what the function raised, if anything."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            message = f"still running after {timeout_s} s"
            raise TimeoutError(message)
        return self._error

    def is_running(self) -> bool:
        """Tell whether it has not ended yet."""
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._result.append(self._function())
        except BaseException as error:  # noqa: BLE001 - kept for the test, which asks for it
            self._error = error
