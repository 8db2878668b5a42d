"""JSON as providers take it: whatever a conversation holds, it can be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_DEPTH = 200
"""Lists and objects within each other.  What is read is written again, a few levels deeper: into
requests and journals, which have limits of their own."""

MAX_COUNT = 2**53 - 1
"""Of tokens and the like: counts are summed up and sent on, to programs that have 64 bits."""


def encode(value: Any) -> bytes:
    """Return ``value`` as JSON.  Lone surrogates become question marks, large integers stay."""
    try:
        return orjson.dumps(value)
    except TypeError:
        import json

        text = json.dumps(_clean(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode()


def parse(text: str | bytes) -> Any:
    """Return the value of a JSON text.  Lone surrogate escapes in it become U+FFFD.

    Programs in Python and JavaScript write them: names of files that are no UTF-8, halves of emoji.

    Raises:
        ValueError: It is no JSON, or nested deeper than `MAX_DEPTH`.

    """
    try:
        value = orjson.loads(text)
    except ValueError:
        repaired = _repaired(text)
        if repaired is None:
            raise
        value = orjson.loads(repaired)
    # Nearly every text is shorter than that many brackets and their partners, or has fewer.
    if len(text) > 2 * MAX_DEPTH and _opened(text) > MAX_DEPTH and not _fits(value, MAX_DEPTH):
        message = f"nested deeper than {MAX_DEPTH} levels"
        raise ValueError(message)
    return value


def mended(text: str) -> str:
    """Return a JSON text as every parser takes it, see `parse`."""
    repaired = _repaired(text) if "\\u" in text else None
    return text if repaired is None else repaired.decode()


def read_object(text: str | bytes) -> dict[str, Any] | None:
    """Return the object that ``text`` is, or None where it is none."""
    try:
        value = parse(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def table(value: Any) -> dict[str, Any]:
    """Return ``value`` if it is an object, else an empty one: providers send null at will."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; anything else counts as empty."""
    if not isinstance(value, list):
        return []
    return [each for each in cast("Sequence[Any]", value) if isinstance(each, dict)]


def text_of(value: Any) -> str:
    """Return ``value`` if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int | None:
    """Return ``value`` if it is a count, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MAX_COUNT:
        return None
    return int(value)


def _opened(text: str | bytes) -> int:
    if isinstance(text, str):
        return text.count("[") + text.count("{")
    return text.count(b"[") + text.count(b"{")


def _fits(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    parts = cast("Iterable[Any]", value.values() if isinstance(value, dict) else value)
    return depth > 0 and all(_fits(each, depth - 1) for each in parts)


def _repaired(text: str | bytes) -> bytes | None:
    from protocol.surrogates import replace_lone_escapes

    return replace_lone_escapes(text.encode("utf-8", "replace") if isinstance(text, str) else text)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        pairs = cast("Mapping[Any, Any]", value).items()
        return {_clean(str(key)): _clean(each) for key, each in pairs}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in cast("Sequence[Any]", value)]
    return value
