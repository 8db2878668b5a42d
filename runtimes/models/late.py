"""A provider that is made when it is first needed: opening a session need not wait for it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runtimes.models.base import Cancel, ModelEvent, ModelRequest
    from runtimes.models.wire_provider import WireProvider


class LateProvider:
    """See `runtimes.models.base.Provider`; what makes it can't fail."""

    def __init__(self, make: Callable[[], WireProvider]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: WireProvider | None = None

    def made(self) -> WireProvider:
        """Return the provider itself; any thread may ask."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def warm_up(self) -> None:
        """Do what the first call would wait for, without calling anybody."""
        self.made().warm_up()

    def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
        """Call, and yield what comes."""
        return self.made().stream(request, cancel)
