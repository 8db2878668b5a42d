"""The arguments of a call: JSON text against a closed schema, with the path of the first fault.

Understands the part of JSON schema that our tools use: object, array, string, integer, boolean,
enum, required, additionalProperties false, minimum, maximum, minLength, minItems; an object without
``properties`` may hold anything.  Pure: no I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = Mapping[str, Any]

_NAMES: Mapping[str, tuple[type, str]] = {
    "object": (dict, "an object"),
    "array": (list, "a list"),
    "string": (str, "text"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
}


class InputInvalidError(ValueError):
    """The arguments don't fit; the text starts with the path of the fault, if it has one."""


def read_input(schema: Schema, arguments: str) -> dict[str, Any]:
    """Parse and check arguments; an optional one that is null counts as absent.

    Raises:
        InputInvalidError: They are no JSON, or don't fit.

    """
    try:
        value: object = orjson.loads(arguments.encode("utf-8", "replace"))
    except orjson.JSONDecodeError as error:
        message = f"they are not JSON: {error}"
        raise InputInvalidError(message) from error
    return check_input(schema, value)


def check_input(schema: Schema, value: object) -> dict[str, Any]:
    """Check arguments that are parsed already; return them without nulls.

    Raises:
        InputInvalidError: They don't fit.

    """
    checked = _check(schema, value, "")
    return cast("dict[str, Any]", checked)


def _check(schema: Schema, value: object, path: str) -> object:
    kind, wanted = _NAMES[schema["type"]]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _fault(path, f"must be {wanted}, not {_shown(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise _fault(path, f"must be one of {', '.join(schema['enum'])}, not {_shown(value)}")
    match value:
        case dict():
            return _object(schema, cast("dict[str, object]", value), path)
        case list():
            return _array(schema, cast("list[object]", value), path)
        case str():
            return _text(schema, value, path)
        case int() if not isinstance(value, bool):
            return _number(schema, value, path)
        case _:
            return value


def _object(schema: Schema, value: dict[str, object], path: str) -> dict[str, object]:
    if "properties" not in schema:
        return value  # whatever it is; somebody else judges it
    properties: Mapping[str, Schema] = schema["properties"]
    required: tuple[str, ...] = tuple(schema.get("required", ()))
    for name in value:
        if name not in properties:
            raise _fault(_join(path, name), f"is unknown; known are {', '.join(properties)}")
    for name in required:
        if name not in value:
            raise _fault(_join(path, name), "is missing")
    return {
        name: _check(properties[name], item, _join(path, name))
        for name, item in value.items()
        if item is not None or name in required
    }


def _array(schema: Schema, value: list[object], path: str) -> list[object]:
    if len(value) < schema.get("minItems", 0):
        raise _fault(path, f"needs at least {schema['minItems']}")
    if len(value) > schema.get("maxItems", len(value)):
        raise _fault(path, f"may have at most {schema['maxItems']}, not {len(value)}")
    return [_check(schema["items"], item, f"{path}[{at}]") for at, item in enumerate(value)]


def _text(schema: Schema, value: str, path: str) -> str:
    if len(value) < schema.get("minLength", 0):
        raise _fault(path, "must not be empty")
    return value


def _number(schema: Schema, value: int, path: str) -> int:
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    if not low <= value <= high:
        wanted = f"from {low} to {high}" if "maximum" in schema else f"{low} or more"
        raise _fault(path, f"must be {wanted}, not {value}")
    return value


def _fault(path: str, message: str) -> InputInvalidError:
    return InputInvalidError(f"{path}: {message}" if path else f"they {message}")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {value[:40]!r}"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case _:
            return "an object"
