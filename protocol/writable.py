"""Values that JSON can't carry as they are, made so.  The slow path of encoding; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_DEPTH = 200
"""Nesting that we write.  orjson stops at 254, and the envelope needs a few levels of its own."""

_INT64_MIN = -(2**63)
_UINT64_MAX = 2**64 - 1
_MAX_DIGITS_BITS = 13_000
"""Python refuses to write integers of more than 4,300 digits, which is about 14,000 bits."""


def writable(value: object, depth: int = 0) -> object:
    """Copy ``value`` with what orjson refuses replaced.

    Lone surrogates become U+FFFD, integers over 64 bits keep their digits, what is nested deeper
    than `MAX_DEPTH` becomes a note.

    Raises:
        TypeError: A key is no text, or a value is of no JSON type: a bug of the caller.

    """
    match value:
        case str():
            return without_surrogates(value)
        case bool() | float() | None:
            return value
        case int():
            return _integer(value)
        case dict() | list() | tuple() if depth >= MAX_DEPTH:
            return f"[nested deeper than {MAX_DEPTH} levels]"
        case dict():
            pairs = cast("Mapping[Any, object]", value).items()
            return {_key(key): writable(member, depth + 1) for key, member in pairs}
        case list() | tuple():
            items = cast("Sequence[object]", value)
            return [writable(item, depth + 1) for item in items]
        case _:
            message = f"a value of type {type(value).__name__} has no JSON form"
            raise TypeError(message)


def without_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone ones by U+FFFD, as a decoder of UTF-16 would."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _key(key: object) -> str:
    if not isinstance(key, str):
        message = f"an object's key must be text, not {type(key).__name__}"
        raise TypeError(message)
    return without_surrogates(key)


def _integer(value: int) -> object:
    if _INT64_MIN <= value <= _UINT64_MAX:
        return value
    if value.bit_length() > _MAX_DIGITS_BITS:
        return f"[integer of {value.bit_length()} bits]"
    return orjson.Fragment(str(value))
