"""A provider that is called over HTTP: one `Dialect`, one config, one key."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

from runtimes.models.base import CallFailed, Noted
from runtimes.models.credentials import CredentialMissing
from runtimes.models.failures import UNAUTHORIZED, status_failure
from runtimes.models.hang_up import Cancelled
from runtimes.models.http_stream import HttpClient, NoAnswer, Target
from runtimes.models.joining import joined
from runtimes.models.json_text import encode
from runtimes.models.sse import EventTooLong, SseSplitter
from runtimes.models.stream_parser import CUT
from runtimes.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from runtimes.models.base import Cancel, ModelEvent, ModelRequest
    from runtimes.models.config import ProviderConfig
    from runtimes.models.dialect import Dialect, Optional
    from runtimes.models.http_stream import Reply
    from runtimes.models.secrets import Secrets
    from runtimes.models.stream_parser import StreamParser

OK, BAD_REQUEST, UNPROCESSABLE = 200, 400, 422
MAX_SENDS = 6
"""Of one call, each with one field less than the last."""
REFUSAL = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra (inputs|fields)"
    r"|not (permitted|allowed)|deprecated|invalid (parameter|field|argument)|use .* instead",
    re.IGNORECASE,
)


class WireProvider:
    """See `runtimes.models.base.Provider`."""

    def __init__(
        self, config: ProviderConfig, dialect: Dialect, secrets: Secrets, client: HttpClient
    ) -> None:
        """Call nobody yet."""
        self._config = config
        self._dialect = dialect
        self._secrets = secrets
        self._client = client
        self._lock = threading.Lock()
        self._omit = config.omit

    def warm_up(self) -> None:
        """Do what the first call would wait for, without calling anybody."""
        self._client.warm_up(self._base_url)

    @property
    def _base_url(self) -> str:
        return (self._config.base_url or self._dialect.base_url).rstrip("/")

    def stream(self, request: ModelRequest, cancel: Cancel) -> Iterator[ModelEvent]:
        """Call, and yield what comes."""
        try:
            key = self._secrets.key(self._config)
        except CredentialMissing as missing:
            yield CallFailed(str(missing), origin="credential")
            return
        try:
            yield from self._calls(request, key, cancel)
        except Cancelled:
            return
        except NoAnswer as error:
            yield self._told(CallFailed(str(error), retry=error.retry))

    def _calls(
        self, request: ModelRequest, key: str | None, cancel: Cancel
    ) -> Iterator[ModelEvent]:
        """Send the call, and again without a field that the server refuses."""
        for sends_left in reversed(range(MAX_SENDS)):
            target = self._target(request, key)
            with self._client.post(target, cancel) as reply:
                if reply.status == OK and reply.encoding:
                    yield self._told(CallFailed(f"its answer is encoded as {reply.encoding}"))
                    return
                if reply.status == OK:
                    yield from self._answer(reply, self._dialect.parser(request))
                    return
                sent_back = b"" if reply.encoding else reply.body()
                failure = status_failure(reply.status, reply.headers, sent_back, time.time())
                refused = self._refused(failure, target.body, sent_back) if sends_left else None
                if refused is None:
                    yield self._told(failure)
                    return
            if refused.note:
                yield Noted(f"{self._config.id}: {refused.note}")

    def _target(self, request: ModelRequest, key: str | None) -> Target:
        config, dialect = self._config, self._dialect
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            "Accept-Encoding": "identity",  # a compressed stream would arrive in lumps
            "User-Agent": f"chantry/{VERSION}",
            **dialect.headers(key),
            **config.headers,
        }
        url = self._base_url + dialect.path(request)
        body = encode(dialect.body(request, config, self._omit))
        return Target(url, headers, body, config.stream_idle_timeout_s)

    def _answer(self, reply: Reply, parser: StreamParser) -> Iterator[ModelEvent]:
        content_type = reply.headers.get("content-type", "")
        if "html" in content_type:
            said = "it answered with a page instead of a stream of events; is base_url right?"
            yield self._told(CallFailed(said, reply.status))
            return
        if "json" in content_type:  # an error, or a server that does not stream
            yield from parser.take(reply.body())
            last = parser.end()
        else:
            cause = yield from self._events(reply, parser)
            last = parser.end(cause)
            if parser.over and not isinstance(last[-1], CallFailed):
                reply.finish()
        for event in last:
            yield self._told(event) if isinstance(event, CallFailed) else event

    def _events(self, reply: Reply, parser: StreamParser) -> Generator[ModelEvent, None, str]:
        """Yield what the stream brings, and return why it brings no more."""
        splitter = SseSplitter()
        try:
            for chunk in reply.chunks():
                yield from joined(parser.take_all(splitter.feed(chunk)))
                if parser.over:
                    return CUT
            yield from parser.take_all(splitter.finish())
        except (NoAnswer, EventTooLong) as error:
            return str(error)
        return CUT

    def _refused(self, failure: CallFailed, sent: bytes, answer: bytes) -> Optional | None:
        """Return the optional field that this server does not take, and never send it again."""
        if failure.status not in {BAD_REQUEST, UNPROCESSABLE} or failure.context_overflow:
            return None
        text = answer.decode("utf-8", "replace").lower()
        if failure.status == BAD_REQUEST and not REFUSAL.search(text):
            return None
        with self._lock:
            for field in self._dialect.optional:
                if field.name in self._omit or field.words not in text:
                    continue
                if field.name.encode() in sent:
                    self._omit |= {field.name}
                    return field
        return None

    def _told(self, failure: CallFailed) -> CallFailed:
        """Say who failed, without what must stay secret, and what to do about a key."""
        said = self._secrets.mask(f"{self._config.id}: {failure.message}")
        if failure.status == UNAUTHORIZED:
            said = f"{said.rstrip('.')}; {self._secrets.cure(self._config)}"
        return CallFailed(
            said,
            failure.status,
            failure.retry,
            failure.retry_after_s,
            failure.origin,
            failure.context_overflow,
        )
