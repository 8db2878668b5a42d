"""The import of httpcore2, without the half of it that nobody here uses.

It asks `importlib.metadata` for its own version and reads anyio and its TLS streams for its
asynchronous side: 27 ms of 50, for which the first turn of each process would wait.  The TLS
libraries, 5 ms more, are imported when a connection first needs them: a model on this machine
is most often spoken to in plain HTTP.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from types import ModuleType
from typing import Any

from actors.stand_ins import Later, LaterLogging, standing_in, without_signatures

_ENGINE = "httpcore2"
_UNUSED = (
    "anyio",
    "trio",
    "httpcore2._backends.anyio",
    "httpcore2._backends.trio",
    "httpcore2._sync.http2",
)
"""httpcore2 does without them where anyio, trio and h2 are not installed.  Others may have them."""
_THEIR_OTHER_HALF = "httpcore2._async"
_METADATA = "importlib.metadata"
_LOGGING = "logging"
_INSPECT = "inspect"
"""For those who watch its inner life."""
_TLS, _CERTIFICATES = "ssl", "httpcore2._ssl"
_lock = threading.Lock()


def load_engine() -> None:
    """Import httpcore2 if nobody has; call it before ``import httpcore2``.  Safe on any thread."""
    with _lock:
        if _ENGINE in sys.modules:
            return
        stand_ins: dict[str, Any] = {
            _THEIR_OTHER_HALF: _Nothing(_THEIR_OTHER_HALF),
            _METADATA: _Metadata(_METADATA),
            _INSPECT: Later(_INSPECT),
            _LOGGING: LaterLogging(_LOGGING),
            **dict.fromkeys(_UNUSED),
        }
        if _TLS not in sys.modules:
            stand_ins |= {_TLS: Later(_TLS), _CERTIFICATES: _Certificates(_CERTIFICATES)}
        # h11 has a class without a docstring, and it is private.
        with standing_in(stand_ins), without_signatures():
            import_module(_ENGINE)


class _Nothing(ModuleType):
    """Stands in for a module whose names are only passed on."""

    def __getattr__(self, name: str) -> type[object]:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})  # httpcore2 writes into what it passes on


class _Certificates(ModuleType):
    """Stands in for the one that finds the certificates, and needs the TLS libraries for it."""

    @staticmethod
    def default_ssl_context(**named: Any) -> Any:
        """Return what the real one does."""
        return import_module(_CERTIFICATES).default_ssl_context(**named)


class _Metadata(Later):
    """Stands in for the one that reads what is installed."""

    @staticmethod
    def version(name: str) -> str:
        """Return a version that nobody looks at, and the real one of all others."""
        return "" if name == _ENGINE else import_module(_METADATA).version(name)
