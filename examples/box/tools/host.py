"""Serve what is live: ``host.py LIVE_DIR PORT`` answers on 127.0.0.1 (port 0: a free one).

It stands for a machine in production.  Each request looks at ``LIVE_DIR/box.pyz`` first and loads
it again when it was replaced, so a deploy or a rollback is one rename and needs no restart.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


class Live:
    """The application inside the newest artifact; itself an application."""

    def __init__(self, artifact: str) -> None:
        """Serve from ``artifact``, which may come later."""
        self._artifact = artifact
        self._loaded: tuple[int, int, int] | None = None
        self._application: WSGIApplication | None = None
        sys.path.insert(0, artifact)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer with what is live now; 503 while nothing is."""
        try:
            application = self._current()
        except OSError:
            start_response("503 Service Unavailable", [("Content-Type", "text/plain")])
            return [b"nothing is deployed\n"]
        return application(environ, start_response)

    def _current(self) -> WSGIApplication:
        stat = os.stat(self._artifact)
        stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if self._application is None or stamp != self._loaded:
            self._application = self._load()
            self._loaded = stamp
        return self._application

    def _load(self) -> WSGIApplication:
        for name in [name for name in sys.modules if name.partition(".")[0] == "box"]:
            del sys.modules[name]
        sys.path_importer_cache.pop(self._artifact, None)
        importlib.invalidate_caches()
        loaded: WSGIApplication = importlib.import_module("box.app").application
        return loaded


class Quiet(WSGIRequestHandler):
    """Keep each request out of the terminal."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


def main(live_dir: str, port: int) -> None:
    """Serve until a signal ends us; the first line on stdout names the address."""
    live = Live(os.path.join(os.path.abspath(live_dir), "box.pyz"))
    with make_server("127.0.0.1", port, live, handler_class=Quiet) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever(poll_interval=0.1)


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except KeyboardInterrupt:
        sys.exit(130)
