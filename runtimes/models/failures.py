"""Failed calls: what a provider said, whether it helps to call again, and when.  Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import orjson

from ops.digits import whole_number
from runtimes.models.base import CallFailed
from runtimes.models.json_text import parse, table, tables, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtimes.models.base import Origin

MAX_TEXT_CHARS = 2000
"""Of a provider's own words."""
BAD_REQUEST, UNAUTHORIZED, PAYMENT, FORBIDDEN, TOO_LARGE, TOO_MANY = 400, 401, 402, 403, 413, 429
RETRIED = frozenset({408, 409, 425, 429, 500, 501, 502, 503, 504, 529})
STATUS_OF = {
    "authentication_error": UNAUTHORIZED,
    "invalid_api_key": UNAUTHORIZED,
    "unauthenticated": UNAUTHORIZED,
    "permission_error": FORBIDDEN,
    "permission_denied": FORBIDDEN,
    "billing_error": PAYMENT,
    "invalid_request_error": BAD_REQUEST,
    "invalid_argument": BAD_REQUEST,
    "invalid_prompt": BAD_REQUEST,
    "context_length_exceeded": BAD_REQUEST,
    "not_found_error": 404,
    "request_too_large": TOO_LARGE,
    "rate_limit_error": TOO_MANY,
    "rate_limit_exceeded": TOO_MANY,
    "insufficient_quota": TOO_MANY,
    "resource_exhausted": TOO_MANY,
    "api_error": 500,
    "server_error": 500,
    "internal": 500,
    "overloaded_error": 529,
    "unavailable": 503,
}
"""What an error in the middle of a stream is called, where it has no status."""
NEVER_BETTER = frozenset({"insufficient_quota", "billing_not_active", "billing_error"})
OVERFLOW = (
    r"(?i)context[_ ](length|window|size)|maximum context|prompt is too long"
    r"|too many (input )?tokens|input token count .*exceeds"
    r"|exceeds? (the )?(maximum|context) (input|limit)"
)
TOO_LONG = r"(?i)exceed|too long|too large|maximum|reduce|overflow|larger|limit"


def status_failure(
    status: int, headers: Mapping[str, str], body: bytes, now_s: float
) -> CallFailed:
    """Judge an answer that is none; ``now_s``: seconds since the epoch, for dates."""
    sent = _read(body)
    error = _error_of(sent)
    words = _words(error) or _first_words(body)
    said = f"it answered {status}: {words}" if words else f"it answered {status}"
    hint = _retry_after(headers, now_s)
    return judged(said, status, error, hint if hint is not None else _retry_info(error))


def stream_failure(sent: Any) -> CallFailed:
    """Judge an error that came in the middle of a stream."""
    error = _error_of(sent)
    names = _names(error)
    status = _number(error.get("code")) or _number(error.get("status"))
    if status is None:
        status = next((STATUS_OF[each] for each in names if each in STATUS_OF), None)
    said = _words(error) or orjson.dumps(sent).decode()[:MAX_TEXT_CHARS]
    return judged(f"it broke off: {said}", status, error, _retry_info(error))


def judged(
    said: str, status: int | None, error: Mapping[str, Any], retry_after_s: float | None
) -> CallFailed:
    """Return what is ``said`` with what follows from it; ``status`` None: nobody gave one."""
    names = _names(error)
    # What is too large for the way to a model, pictures mostly, is as good as too long for it.
    overflow = status == TOO_LARGE or (
        status in {None, BAD_REQUEST}
        and (
            "context_length_exceeded" in names
            or (bool(re.search(OVERFLOW, said)) and bool(re.search(TOO_LONG, said)))
        )
    )
    retry = (status is None or status in RETRIED) and not names & NEVER_BETTER and not overflow
    origin: Origin = "credential" if status in {UNAUTHORIZED, FORBIDDEN} else "model"
    return CallFailed(said, status, retry, retry_after_s, origin, overflow)


def _names(error: Mapping[str, Any]) -> frozenset[str]:
    sent = (error.get(key) for key in ("code", "type", "status"))
    return frozenset(each.lower() for each in sent if isinstance(each, str))


def _number(value: Any) -> int | None:
    if isinstance(value, str):
        value = whole_number(value)
    lowest, highest = 400, 599
    return value if isinstance(value, int) and lowest <= value <= highest else None


def _read(body: bytes) -> Any:
    try:
        return parse(body)
    except ValueError:
        return None


def _error_of(sent: Any) -> dict[str, Any]:
    """Find the error where vendors put it."""
    if isinstance(sent, list):
        sent = next(iter(cast("Sequence[Any]", sent)), None)
    if isinstance(sent, str):
        return {"message": sent}
    outer = table(sent)
    inner = outer.get("error")
    if isinstance(inner, dict):
        return cast("dict[str, Any]", inner)
    return {**outer, "message": inner} if isinstance(inner, str) else outer


def _words(error: Mapping[str, Any]) -> str:
    words = text_of(error.get("message")) or text_of(error.get("detail"))
    if not words and error.get("detail"):
        words = orjson.dumps(error["detail"]).decode()
    # OpenRouter: the words of the provider behind it.
    raw = text_of(table(error.get("metadata")).get("raw"))
    return _line(f"{words} ({raw})" if raw and words else words or raw)


def _first_words(body: bytes) -> str:
    text = body[: 4 * MAX_TEXT_CHARS].decode("utf-8", "replace")
    if "<html" in text.lower():
        title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        text = title[1] if title else ""
    return _line(text)


def _line(text: str) -> str:
    return " ".join(text.split())[:MAX_TEXT_CHARS]


def _retry_after(headers: Mapping[str, str], now_s: float) -> float | None:
    """Read how long to wait, in seconds; a hint that can't be read is none."""
    exact = _seconds(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    hint = headers.get("retry-after")
    wait_s = _seconds(hint)
    if wait_s is not None or not hint:
        return wait_s
    from email.utils import parsedate_to_datetime

    try:
        until_s = parsedate_to_datetime(hint).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, until_s - now_s)


def _retry_info(error: Mapping[str, Any]) -> float | None:
    """Google says in the body when to come back: ``{"retryDelay": "34s"}``."""
    hints = (text_of(each.get("retryDelay")) for each in tables(error.get("details")))
    return next((_seconds(each.removesuffix("s")) for each in hints if each), None)


def _seconds(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
