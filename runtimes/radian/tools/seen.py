"""Which files the model has read, and what was in them then."""

from __future__ import annotations

import threading


class SeenFiles:
    """Digests by path (absolute, without links).  Any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._digests: dict[str, str] = {}

    def note(self, path: str, data: bytes) -> None:
        """Remember that the model knows ``data`` as the content of ``path``."""
        digest = digest_of(data)
        with self._lock:
            self._digests[path] = digest

    def note_digest(self, path: str, digest: str) -> None:
        """Remember a content by its digest."""
        with self._lock:
            self._digests[path] = digest

    def knows(self, path: str) -> bool:
        """Tell whether the file was read or written before."""
        with self._lock:
            return path in self._digests

    def is_stale(self, path: str, data: bytes) -> bool:
        """Tell whether the file was seen with another content than ``data``."""
        with self._lock:
            digest = self._digests.get(path)
        return digest is not None and digest != digest_of(data)


def digest_of(data: bytes) -> str:
    """Return the digest that `SeenFiles` compares."""
    import hashlib

    return hashlib.sha256(data).hexdigest()
