"""The whole output of a call, in a file: its result holds only the two ends of it."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from actors.faults import WITH_ERROR, point
from protocol.acp.cutting import cut_text, json_size, shorten_text

if TYPE_CHECKING:
    from actors.faults import Faults

AT_KEEP = point("output.keep", "a tool's output is about to go to its file", WITH_ERROR)

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Of one file.  A program that prints more has its end in the result, and nowhere its middle."""
MAX_RESULT_BYTES = 32 * 1024
"""Of a result: about 8,000 tokens."""
ROOM_FOR_DIGITS = 32
"""For a count that grows."""


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


def shorten(
    text: str,
    limit_bytes: int = MAX_RESULT_BYTES,
    full: str | None = None,
    *,
    whole_bytes: int = 0,
) -> str:
    """Return the two ends of a text that is too long for a result, and say what is missing.

    ``full``: the file that has all of it, or as much as there is room for.  ``whole_bytes``: what
    there was, if ``text`` itself has only the ends of it.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= limit_bytes:
        return text
    head = data[: limit_bytes // 2].decode("utf-8", "ignore")
    tail = data[-(limit_bytes // 2) :].decode("utf-8", "ignore")
    whole_bytes = max(whole_bytes, len(data))
    left_out = whole_bytes - len(head.encode()) - len(tail.encode())
    where = ""
    if full:
        what = (
            "all of it is" if whole_bytes <= MAX_FILE_BYTES else f"its first {MAX_FILE_BYTES} are"
        )
        where = f"; {what} in {full}"
    return f"{head}\n[... {left_out} bytes left out{where} ...]\n{tail}"


def shorten_again(text: str, limit_bytes: int) -> str:
    """Shorten an output for those who take at most ``limit_bytes`` of it, as JSON.

    The note that `shorten` has put into its middle stays, and what it says stays true.
    """
    if json_size(text) <= limit_bytes:
        return text
    noted = _note_of(text)
    if noted is None:
        return shorten_text(text, limit_bytes)
    start, end, left_out, where = noted
    room = (limit_bytes - json_size(text[start:end]) - ROOM_FOR_DIGITS) // 2
    if room < ROOM_FOR_DIGITS:
        return shorten_text(text, limit_bytes)
    head, tail = text[:start], text[end:]
    kept_head = next(cut_text(head, room), "")
    kept_tail = next(cut_text(tail[::-1], room), "")[::-1]
    left_out += _bytes_of(head) + _bytes_of(tail) - _bytes_of(kept_head) - _bytes_of(kept_tail)
    return f"{kept_head}\n[... {left_out} bytes left out{where} ...]\n{kept_tail}"


def _note_of(text: str) -> tuple[int, int, int, str] | None:
    """Find the note nearest to the middle: where it is, how much it counts, and which file."""
    import re

    where = r"(?:; (?:all of it is|its first \d+ are) in [^\n]+)?"
    notes = re.finditer(rf"\n\[\.\.\. (\d{{1,18}}) bytes left out({where}) \.\.\.\]\n", text)
    found = min(notes, key=lambda note: abs(note.start() + note.end() - len(text)), default=None)
    if found is None:
        return None
    return found.start(), found.end(), int(found[1]), found[2]


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
