"""The published schema as a judge of single messages, stricter than published.

The schema's own top level takes any object, so a message is matched to the definition that its
method names.  Members that no definition knows are refused too, except under `_meta`.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal, TypeAlias

from jsonschema import Draft202012Validator

from tests.shared import shared_path

Part: TypeAlias = Literal["Request", "Response", "Notification"]

_COMPOSED = ("$ref", "allOf", "anyOf", "oneOf", "properties")
_BITS = {f"{sign}int{bits}": (sign, bits) for sign in ("u", "") for bits in (16, 32, 64)}
"""Formats that only annotate a number, and that typed clients fail on nevertheless."""


def judge_call(message: dict[str, Any]) -> None:
    """Check a request or a notification.

    Raises:
        jsonschema.ValidationError: It breaks the schema.

    """
    part: Part = "Request" if "id" in message else "Notification"
    _judge(message["method"], part, message["params"])
    _judge_envelope(
        message, {"id", "method", "params"} if part == "Request" else {"method", "params"}
    )


def judge_result(method: str, message: dict[str, Any]) -> None:
    """Check the good answer to a request of ``method``."""
    _judge(method, "Response", message["result"])
    _judge_envelope(message, {"id", "result"})


def judge_error(message: dict[str, Any]) -> None:
    """Check a bad answer."""
    _validator("Error").validate(message["error"])
    _judge_envelope(message, {"id", "error"})


def _judge(method: str, part: Part, value: object) -> None:
    _validator(_definition_of(method, part)).validate(value)


def _judge_envelope(message: dict[str, Any], members: set[str]) -> None:
    assert set(message) == members | {"jsonrpc"}
    assert message["jsonrpc"] == "2.0"


@cache
def _schema() -> dict[str, Any]:
    text = shared_path("acp-schema", "v1-sdk-2.4.0.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    for definition in schema["$defs"].values():
        _close_members(definition)
        _bound_numbers(definition)
    return schema


@cache
def _definition_of(method: str, part: Part) -> str:
    names: list[str] = [
        name
        for name, definition in _schema()["$defs"].items()
        if definition.get("x-method") == method and name.endswith(part)
    ]
    assert len(names) == 1, f"{method} has {names} as {part}"
    return names[0]


@cache
def _validator(definition: str) -> Draft202012Validator:
    root = {"$ref": f"#/$defs/{definition}", "unevaluatedProperties": False}
    return Draft202012Validator({**root, "$defs": _schema()["$defs"]})


def _bound_numbers(schema: Any) -> None:
    """Hold each number below ``schema`` to what its format has room for."""
    if isinstance(schema, list):
        for each in schema:
            _bound_numbers(each)
    if not isinstance(schema, dict):
        return
    for each in schema.values():
        _bound_numbers(each)
    name = schema.get("format")
    if isinstance(name, str) and name in _BITS:
        sign, bits = _BITS[name]
        top = 2 ** (bits if sign else bits - 1)
        schema["maximum"] = top - 1
        schema.setdefault("minimum", 0 if sign else -top)


def _close_members(schema: dict[str, Any]) -> None:
    """Refuse unknown members of every object below ``schema``, but not of ``schema`` itself.

    A definition is also used as one part of a larger object, whose other members it can't know.
    """
    members = list(schema.get("properties", {}).values())
    if isinstance(schema.get("items"), dict):
        members.append(schema["items"])
    for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *members):
        if isinstance(branch, dict):
            _close_members(branch)
            if any(key in branch for key in _COMPOSED):
                branch.setdefault("unevaluatedProperties", False)
