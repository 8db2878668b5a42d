"""Reading members of a client's object: required ones strictly, the others leniently.

Lenient as the protocol prescribes: an optional member of the wrong type counts as absent.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

from protocol.errors import InvalidParams

JsonObject: TypeAlias = dict[str, Any]


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Tell whether a value read from JSON is an object."""
    return type(value) is dict


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a value read from JSON is an array."""
    return type(value) is list


def required_text(source: JsonObject, name: str, where: str = "") -> str:
    """Read a member that must be text; ``where`` prefixes its name in the error.

    Raises:
        InvalidParams: It is absent or no text.

    """
    value = source.get(name)
    if type(value) is not str:
        problem = "is missing" if name not in source else "must be text"
        message = f"{where}{name} {problem}"
        raise InvalidParams(message)
    return value


def optional_text(source: JsonObject, name: str) -> str | None:
    """Read a text member, or None."""
    value = source.get(name)
    return value if type(value) is str else None


def optional_int(source: JsonObject, name: str) -> int | None:
    """Read an integer member, or None; true and 1.0 are none."""
    value = source.get(name)
    return value if type(value) is int else None


def as_object(value: object) -> JsonObject:
    """Take an object as it is and anything else as an empty one."""
    return value if is_object(value) else {}


def as_list(value: object) -> list[Any]:
    """Take an array as it is and anything else as an empty one."""
    return value if is_list(value) else []


def meta_of(source: JsonObject) -> JsonObject:
    """Read ``_meta``; null, absent and malformed are all empty."""
    return as_object(source.get("_meta"))
