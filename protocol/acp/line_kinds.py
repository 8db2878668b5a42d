"""What kind of line goes to a client: for fault plans, which pick lines by what they say."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

from protocol.jsonrpc import Failure, Notification, Request, Result, decode
from protocol.named_tuple import NamedTuple

Sort: TypeAlias = Literal["update", "answer", "question", "other"]

ANSWERS = (
    ("protocolVersion", "initialize"),
    ("stopReason", "session/prompt"),
    ("sessionId", "session/new"),
)
"""A member that only the answer to this method has."""


class LineKind(NamedTuple):
    """A line's sort, and what in particular it is.

    An update's ``who`` is its kind (``agent_message_chunk``), a question's its method, an answer's
    the method that it answers: ``initialize``, ``session/new``, ``session/prompt``, ``error`` for
    an error, and ``other``.
    """

    sort: Sort
    who: str


def line_kind(line: bytes) -> LineKind:
    """Tell what a line of ours is; what is none of ours is ``other``."""
    match decode(line.rstrip(b"\n")):
        case Notification(_, params):
            update = _members(params.get("update"))
            return LineKind("update", str(update.get("sessionUpdate", "")))
        case Request(_, method, _):
            return LineKind("question", method)
        case Result(_, value):
            return LineKind("answer", _answered(_members(value)))
        case Failure():
            return LineKind("answer", "error")
        case _:
            return LineKind("other", "")


def _answered(value: dict[str, Any]) -> str:
    return next((method for member, method in ANSWERS if member in value), "other")


def _members(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
