"""The whole output of a call, in a file: its result holds only the two ends of it."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from actors.faults import WITH_ERROR, point

if TYPE_CHECKING:
    from actors.faults import Faults

AT_KEEP = point("output.keep", "a tool's output is about to go to its file", WITH_ERROR)

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Of one file.  A program that prints more has its end in the result, and nowhere its middle."""
MAX_RESULT_BYTES = 32 * 1024
"""Of a result: about 8,000 tokens."""


class FullOutput:
    """Appends to one file, made with the first text.  A disk that fails costs the file only."""

    def __init__(self, path: str, faults: Faults, *, spare_bytes: int = 0) -> None:
        """Keep up to ``spare_bytes`` in memory before there is a file at all."""
        self.path = path
        self._faults = faults
        self._spare = spare_bytes
        self._lock = threading.Lock()
        self._held = bytearray()
        self._written = 0
        self._broken = False

    @property
    def exists(self) -> bool:
        """Tell whether there is a file with all that came (up to the limit)."""
        with self._lock:
            return self._written > 0 and not self._broken

    def write(self, text: str) -> None:
        """Add what was printed."""
        with self._lock:
            if self._broken or self._written + len(self._held) >= MAX_FILE_BYTES:
                return
            self._held += text.encode("utf-8", "replace")
            if self._written or len(self._held) > self._spare:
                self._flush()

    def _flush(self) -> None:
        """Append without keeping the file open: nobody has to close it, whatever happens."""
        data = bytes(self._held[: MAX_FILE_BYTES - self._written])
        self._held.clear()
        try:
            self._faults.at(AT_KEEP, os.path.basename(self.path))
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            fd = os.open(self.path, flags, 0o600)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
            finally:
                os.close(fd)
            self._written += len(data)
        except OSError:
            self._broken = True


def shorten(text: str, limit_bytes: int = MAX_RESULT_BYTES, full: str | None = None) -> str:
    """Return the two ends of a text that is too long for a result, and say what is missing.

    ``full``: the file that has all of it.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= limit_bytes:
        return text
    head = data[: limit_bytes // 2].decode("utf-8", "ignore")
    tail = data[-(limit_bytes // 2) :].decode("utf-8", "ignore")
    left_out = len(data) - len(head.encode()) - len(tail.encode())
    where = f"; all of it is in {full}" if full else ""
    return f"{head}\n[... {left_out} bytes left out{where} ...]\n{tail}"
