"""A wake pipe that may be rung by one thread while another closes it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.platform import Platform


class Bell:
    """Ends a poll on `fd`.  After `close` a ring does nothing, and never hits a reused number."""

    def __init__(self, platform: Platform) -> None:
        self.fd, self._hammer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._lock = platform.condition()
        self._closed = False

    def ring(self) -> None:
        """Make the poll return.  Never waits; a full pipe has rung already."""
        with self._lock:
            if self._closed:
                return
            try:
                os.write(self._hammer, b"!")
            except BlockingIOError:
                return

    def silence(self) -> None:
        """Take what rang so far.  Called by the thread that polls."""
        try:
            os.read(self.fd, 4096)
        except BlockingIOError:
            return

    def close(self) -> None:
        """Free both descriptors.  Called by the thread that polls, once."""
        with self._lock:
            self._closed = True
            os.close(self._hammer)
            os.close(self.fd)
