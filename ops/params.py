"""Parameters: where a value comes from, and what type it must have.  Pure."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from ops.errors import ParamInvalid, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.model import Param

NUMERALS = {
    int: re.compile(r"[+-]?[0-9]+"),
    float: re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
}
"""What people write.  Python would also take 1_000, spaces around, and digits of other scripts."""

BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def resolve_params(
    declared: Mapping[str, Param], given: Mapping[str, Any], environ: Mapping[str, str]
) -> dict[str, Any]:
    """Return each declared parameter's value: given, else from its variable, else the default.

    One without a value that is not required is left out.

    Raises:
        ParamInvalid: A name is not declared, a value is missing, or of another type.

    """
    for name in given:
        if name not in declared:
            raise ParamInvalid(unknown("parameter", name, declared))
    values, missing = known_params(declared, given, environ)
    if missing:
        msg = f"missing parameter: {', '.join(missing)} (give it with --param {missing[0]}=VALUE)"
        raise ParamInvalid(msg)
    return values


def known_params(
    declared: Mapping[str, Param], given: Mapping[str, Any], environ: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the values that are known, and the names of required ones that are not."""
    values: dict[str, Any] = {}
    missing: list[str] = []
    for name, param in declared.items():
        value = given.get(name)
        if value is None and param.env:
            value = environ.get(param.env)
        if value is None:
            value = param.default
        if value is not None:
            values[name] = typed_value(param, value)
        elif param.required:
            missing.append(name)
    return values, missing


def typed_value(param: Param, value: Any) -> Any:
    """Return ``value`` in the parameter's type; text is read, a typed value must fit.

    Raises:
        ParamInvalid: It doesn't fit, or is not one of the declared choices.

    """
    typed = _read(param, value)
    if typed is None:
        msg = f"parameter {param.name!r} must be {_article(param.type)}, not {value!r}"
        raise ParamInvalid(msg)
    if param.enum and typed not in param.enum:
        choices = ", ".join(map(str, param.enum))
        msg = f"parameter {param.name!r} must be one of {choices}, not {value!r}"
        raise ParamInvalid(msg)
    if isinstance(typed, str) and "\0" in typed:
        msg = f"parameter {param.name!r} holds a NUL character, which no program can be given"
        raise ParamInvalid(msg)
    return typed


def param_variable(name: str) -> str:
    """Return the environment variable that a step finds parameter ``name`` in."""
    return "CHANT_PARAM_" + name.upper().replace("-", "_").replace(".", "_")


def param_text(value: Any) -> str:
    """Write a parameter's value for the environment: text as it is, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _read(param: Param, value: Any) -> Any:
    match param.type:
        case "string":
            return value if isinstance(value, str) else None
        case "boolean":
            if isinstance(value, str):
                return BOOLEANS.get(value.lower())
            return value if isinstance(value, bool) else None
        case "integer":
            return _number(value, int)
        case "number":
            return _number(value, float)


def _number(value: Any, kind: type[int | float]) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if not NUMERALS[kind].fullmatch(value):
            return None
        try:
            value = kind(value)
        except ValueError:  # thousands of digits
            return None
    if isinstance(value, int):
        return value
    fits = kind is float and isinstance(value, float) and math.isfinite(value)
    return value if fits else None


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
