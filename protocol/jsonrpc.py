"""One line to one value, and back: JSON-RPC 2.0.  The only reader and writer of JSON lines."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

import orjson

from protocol.errors import InvalidParams, InvalidRequest, ParseError, ProtocolError
from protocol.members import JsonObject, is_object, optional_text
from protocol.named_tuple import NamedTuple
from protocol.writable import writable

RequestId: TypeAlias = str | int | float | None
IdKey: TypeAlias = tuple[type, RequestId]

_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATACLASS
# Passed through, a dataclass is a TypeError; else it would be written with snake_case names.

_EXACT_BELOW = 2.0**63
"""Integers over 64 bits arrive as floats, with other digits than the client wrote."""


class Request(NamedTuple):
    """A request of theirs, to be answered under ``id``."""

    id: RequestId
    method: str
    params: JsonObject

    @property
    def key(self) -> IdKey:
        """What tables use in place of the id; see `id_key`."""
        return id_key(self.id)


class Notification(NamedTuple):
    """A notification of theirs, never to be answered."""

    method: str
    params: JsonObject


class Result(NamedTuple):
    """The good answer to a request of ours."""

    id: RequestId
    value: Any


class Failure(NamedTuple):
    """The bad answer to a request of ours; also what a malformed answer is read as."""

    id: RequestId
    code: int
    message: str
    data: Any = None


class Rejected(NamedTuple):
    """A line to be answered with ``error`` under ``id``."""

    id: RequestId
    error: ProtocolError


class Ignored(NamedTuple):
    """A line to be passed over in silence; ``reason`` is for the log."""

    reason: str


Message: TypeAlias = Request | Notification | Result | Failure | Rejected | Ignored


def id_key(request_id: RequestId) -> IdKey:
    """Make a key that tells 1 from 1.0 from "1" from None, which ``==`` does not."""
    return (type(request_id), request_id)


def is_request_id(value: object) -> TypeGuard[RequestId]:
    """Tell whether ``value`` may be an id: text, a number that we can repeat exactly, or null.

    Fractions are repeated.  A number outside of -2^63..2^64-1 can't be, and is refused.
    """
    kind = type(value)
    if kind is float:
        return -_EXACT_BELOW < value < _EXACT_BELOW  # type: ignore[operator]
    return kind is str or kind is int or value is None


def decode(line: bytes | bytearray | memoryview) -> Message:
    """Read one line, without its line end.

    Never raises: what is wrong with the line comes back as `Rejected` or `Ignored`.
    """
    try:
        message: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        repaired = _with_surrogates_replaced(line)
        if repaired is not None:
            return decode(repaired)
        return Rejected(None, ParseError(f"not valid JSON: {error.msg} at character {error.pos}"))
    if not is_object(message):
        what = "batches are not supported" if type(message) is list else "a message is an object"
        return Rejected(None, InvalidRequest(what))
    return _decode_object(message)


def encode_result(request_id: RequestId, value: object) -> bytes:
    """Write the good answer to a request of theirs, newline included."""
    return encode({"jsonrpc": "2.0", "id": request_id, "result": value})


def encode_error(request_id: RequestId, error: ProtocolError) -> bytes:
    """Write the bad answer to a request of theirs, newline included."""
    body: JsonObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return encode({"jsonrpc": "2.0", "id": request_id, "error": body})


def encode_request(request_id: RequestId, method: str, params: JsonObject) -> bytes:
    """Write a request of ours, newline included."""
    return encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def encode_notification(method: str, params: JsonObject) -> bytes:
    """Write a notification of ours, newline included."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def encode_text(text: str) -> bytes:
    """Write one JSON string, for a line that is put together from parts."""
    try:
        return orjson.dumps(text)
    except orjson.JSONEncodeError:
        return orjson.dumps(writable(text))


def encode(message: JsonObject) -> bytes:
    """Write a whole message as one line.

    Raises:
        TypeError: A value in it has no JSON form: a bug of the caller.

    """
    try:
        return orjson.dumps(message, None, _OPTIONS)
    except orjson.JSONEncodeError:
        return orjson.dumps(writable(message), None, _OPTIONS)


def _decode_object(message: JsonObject) -> Message:
    """Tell calls, answers and neither apart."""
    if "method" in message:
        return _call(message) if "id" in message else _notification(message)
    if "result" in message or "error" in message:
        return _answer(message)
    request_id = message.get("id")
    return Rejected(
        request_id if is_request_id(request_id) else None,
        InvalidRequest("neither a method nor an answer"),
    )


def _call(message: JsonObject) -> Request | Rejected:
    """Read an object with a method and an id."""
    request_id, method, params = message["id"], message["method"], message.get("params")
    if not is_request_id(request_id):
        return Rejected(None, InvalidRequest("an id is text, a number of 64 bits or null"))
    if message.get("jsonrpc") != "2.0":
        return Rejected(request_id, InvalidRequest('jsonrpc must be "2.0"'))
    if type(method) is not str:
        return Rejected(request_id, InvalidRequest("method must be text"))
    if params is None:
        params = {}
    elif not is_object(params):
        return Rejected(request_id, InvalidParams("params must be an object"))
    return Request(request_id, method, params)


def _notification(message: JsonObject) -> Notification | Rejected | Ignored:
    """Read an object with a method and no id."""
    method, params = message["method"], message.get("params")
    if type(method) is not str:
        # No notification either: JSON-RPC answers such an object, under the id null.
        return Rejected(None, InvalidRequest("method must be text"))
    if message.get("jsonrpc") != "2.0":
        return Ignored("a notification without jsonrpc 2.0")
    if params is None:
        params = {}
    elif not is_object(params):
        return Ignored("a notification whose params are no object")
    return Notification(method, params)


def _answer(message: JsonObject) -> Result | Failure | Ignored:
    """Read an answer.  A malformed one is a failure, so that our question does not stay open."""
    request_id, error = message.get("id"), message.get("error")
    if not is_request_id(request_id):
        return Ignored("an answer without a usable id")
    if message.get("jsonrpc") == "2.0" and ("result" in message) != ("error" in message):
        if "result" in message:
            return Result(request_id, message["result"])
        if is_object(error) and type(error.get("code")) is int:
            message_text = optional_text(error, "message") or "no message"
            return Failure(request_id, error["code"], message_text, error.get("data"))
    return Failure(request_id, InvalidRequest.code, "malformed answer")


def _with_surrogates_replaced(line: bytes | bytearray | memoryview) -> bytes | None:
    r"""Replace lone surrogate escapes such as ``\ud800`` by U+FFFD; None if there is none.

    JSON allows them, JavaScript writes them for a text cut inside a pair, and orjson refuses them.
    Refusing the line would leave the client's request without an answer under its id.
    """
    if b"\\ud" not in line and b"\\uD" not in line:
        return None
    from protocol.surrogates import replace_lone_escapes

    return replace_lone_escapes(line)
