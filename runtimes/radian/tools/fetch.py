"""`fetch`: one page of the web as text, bounded; a redirect to another host is asked for anew."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runtimes.models.hang_up import Cancelled
from runtimes.models.http_stream import HttpClient, NoAnswer, Target
from runtimes.radian.permissions import GrantKey, Request
from runtimes.radian.tools.base import Prepared, ToolFailedError, ToolOutcome, ToolView
from runtimes.radian.tools.full_output import shorten
from runtimes.radian.tools.running import one_line, run_callable
from runtimes.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from actors.work import CancelToken, WorkContext
    from runtimes.models.http_stream import Reply
    from runtimes.radian.tools.base import Input, Kind, ToolContext, ToolRun

DEFAULT_BYTES = 64 * 1024
MAX_BYTES = 1024 * 1024
"""Of a result; `READ_FACTOR` times as much is read, since markup is most of a page."""
READ_FACTOR = 8
MAX_REDIRECTS = 5
SILENCE_S = 20.0
TIMEOUT_S = 60.0
OK, ERRORS = 200, 400
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TEXT = r"text/|application/(?:.*\+)?(?:json|xml|javascript|yaml|toml)|^$"


class Fetch:
    """Reads a page.  ``environ`` may name proxies."""

    name = "fetch"
    kind: Kind = "fetch"
    read_only = True
    summary = "Read a page of the web (http or https, GET). HTML comes as text."
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "url": {"type": "string", "minLength": 1},
            "max_bytes": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_BYTES,
                "description": f"Of text; {DEFAULT_BYTES} if absent",
            },
        },
        "required": ["url"],
        "additionalProperties": False,
    }

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._client = HttpClient(environ)

    def prepare(self, values: Input, context: ToolContext) -> Prepared:
        """Read the address; nothing is looked up yet."""
        del context
        url = normal_url(values["url"])
        origin = "/".join(url.split("/", 3)[:3])
        grant = GrantKey(self.name, origin, f"{self.name} from {origin}")
        request = Request(self.name, "fetch", url, grant=grant)
        return Prepared(
            self.name, {**values, "url": url}, ToolView(one_line(f"Fetch {url}")), request
        )

    def start(self, prepared: Prepared, call_id: str, context: ToolContext) -> ToolRun:
        """Return the request."""
        del call_id, context
        limit = prepared.input.get("max_bytes", DEFAULT_BYTES)

        def act(work: WorkContext) -> ToolOutcome:
            try:
                return self._fetch(prepared.request.target, limit, work.cancel)
            except NoAnswer as error:
                message = f"{prepared.request.target}: {error}"
                raise ToolFailedError(message) from error
            except Cancelled as error:
                message = "cancelled"
                raise ToolFailedError(message) from error

        run = run_callable(self.name, act)
        return type(run)(run.work, run.finish, timeout_s=TIMEOUT_S)

    def _fetch(self, url: str, limit: int, cancel: CancelToken) -> ToolOutcome:
        from urllib.parse import urljoin, urlsplit

        asked = url
        for _ in range(MAX_REDIRECTS):
            with self._client.post(_target(url), cancel) as reply:
                if reply.status not in _REDIRECTS or "location" not in reply.headers:
                    return _outcome(url, reply, limit)
                url = normal_url(urljoin(url, reply.headers["location"]))
            if urlsplit(url).netloc != urlsplit(asked).netloc:
                return ToolOutcome(f"{asked} redirects to another host: fetch {url} if you want it")
        message = f"{asked} redirects more than {MAX_REDIRECTS} times"
        raise ToolFailedError(message)


def normal_url(text: str) -> str:
    """Return an address as rules are matched with it.

    Raises:
        ToolFailedError: It is none that may be fetched.

    """
    from urllib.parse import urlsplit, urlunsplit

    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        message = f"{text!r} is no address: {error}"
        raise ToolFailedError(message) from error
    if parts.scheme not in {"http", "https"} or not host or any(one <= " " for one in text.strip()):
        message = f"{text!r} is no http or https address"
        raise ToolFailedError(message)
    if parts.username is not None or parts.password is not None:
        message = "an address with a name or a password in it is not fetched"
        raise ToolFailedError(message)
    if _is_link_local(host):
        message = f"{host} is where machines of a cloud learn their secrets; it is not fetched"
        raise ToolFailedError(message)
    try:
        named = f"[{host}]" if ":" in host else host.encode("idna").decode()
    except UnicodeError as error:
        message = f"{text!r} is no address: {host!r} is no name of a host"
        raise ToolFailedError(message) from error
    netloc = (
        named if port in {None, {"http": 80, "https": 443}[parts.scheme]} else f"{named}:{port}"
    )
    return urlunsplit((parts.scheme, netloc, parts.path or "/", parts.query, ""))


def _is_link_local(host: str) -> bool:
    import ipaddress
    import socket

    if host.rstrip(".") == "metadata.google.internal":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:  # 2852039166 and 0xa9.254.43518 are addresses as well
            address = ipaddress.ip_address(socket.inet_aton(host.rstrip(".")))
        except (OSError, ValueError):
            return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_link_local or str(mapped) == "fd00:ec2::254"


def _target(url: str) -> Target:
    headers = {
        "User-Agent": f"radian/{VERSION}",
        "Accept": "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1",
        "Accept-Encoding": "identity",
    }
    return Target(url, headers, b"", SILENCE_S, method="GET")


def _outcome(url: str, reply: Reply, limit: int) -> ToolOutcome:
    kind = reply.headers.get("content-type", "").lower()
    if not re.match(_TEXT, kind.partition(";")[0].strip()):
        return ToolOutcome(f"{url} is {kind or 'no text'}, which is not shown")
    if reply.encoding:
        message = f"{url} comes encoded as {reply.encoding}, which was not asked for"
        raise ToolFailedError(message)
    data = bytearray()
    for chunk in reply.chunks():
        data += chunk
        if len(data) > limit * READ_FACTOR:
            break
    text = _decoded(bytes(data[: limit * READ_FACTOR]), kind)
    if "html" in kind:
        from runtimes.radian.tools.html_text import html_text

        text = html_text(text)
    text = shorten(text, limit)
    if reply.status < OK or reply.status >= ERRORS:
        return ToolOutcome(f"HTTP {reply.status} from {url}\n{text}", True, f"HTTP {reply.status}")  # noqa: FBT003 - failed
    return ToolOutcome(text or "[the page is empty]")


def _decoded(data: bytes, kind: str) -> str:
    found = re.search(r"charset=[\"']?([\w.:-]+)", kind)
    try:
        return data.decode(found.group(1) if found else "utf-8", "replace")
    except (LookupError, UnicodeError):  # no such charset, or one of Python's that is for names
        return data.decode("utf-8", "replace")
