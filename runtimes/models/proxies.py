"""Which proxy leads to an address: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping


def proxy_for(url: str, environ: Mapping[str, str]) -> str:
    """Return the proxy's address, or nothing."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    found = _named(environ, f"{parts.scheme}_proxy") or _named(environ, "all_proxy")
    if not found or host in {"localhost", "127.0.0.1", "::1"}:
        return ""
    if any(
        _covers(each.strip(), host, parts.port) for each in _named(environ, "no_proxy").split(",")
    ):
        return ""
    return found if "://" in found else f"http://{found}"


def _named(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper(), "")


def _covers(pattern: str, host: str, port: int | None) -> bool:
    """Tell whether an entry of NO_PROXY covers a host: itself, or a domain that it lies in."""
    if not pattern:
        return False
    name, colon, wanted_port = pattern.lower().partition(":")
    if colon and wanted_port != str(port):
        return False
    name = name.removeprefix("*").removeprefix(".")
    return not name or host == name or host.endswith(f".{name}")
