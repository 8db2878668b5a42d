"""The web side of the stock: a WSGI application that answers JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from box.stock import Stock, UnknownBoxError
from box.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

STOCK = Stock({"crate": 3, "shoebox": 40, "hatbox": 0})
REASONS = {200: "200 OK", 404: "404 Not Found", 405: "405 Method Not Allowed"}


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer one request."""
    status, value = answer(environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/"))
    body = json.dumps(value).encode() + b"\n"
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response(REASONS[status], headers)
    return [body]


def answer(method: str, path: str) -> tuple[int, dict[str, object]]:
    """Turn a method and a path into a status and the value to send."""
    if method != "GET":
        return 405, {"error": f"{method} is not supported"}
    match path.strip("/").split("/"):
        case ["health"]:
            return 200, {"status": "ok", "version": VERSION}
        case ["boxes"]:
            return 200, {"boxes": STOCK.names()}
        case ["boxes", name]:
            return _box(name)
        case _:
            return 404, {"error": f"nothing at {path}"}


def _box(name: str) -> tuple[int, dict[str, object]]:
    try:
        return 200, {"name": name, "count": STOCK.count(name)}
    except UnknownBoxError:
        return 404, {"error": f"no box is called {name}"}
