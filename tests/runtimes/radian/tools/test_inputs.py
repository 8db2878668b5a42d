"""Arguments against schemas, with the path of the first fault."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from runtimes.radian.profiles import PROFILE_NAMES
from runtimes.radian.tools.base import ToolOutcome, prepare
from runtimes.radian.tools.builtin import builtin_tools
from runtimes.radian.tools.inputs import InputInvalidError, read_input

if TYPE_CHECKING:
    from tests.runtimes.radian.tools.bench import Bench

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "offset": {"type": "integer", "minimum": 1},
        "on": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "items": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"x": {"type": "string"}},
                "required": ["x"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("", "they are not JSON"),
        ('{"name": "x"', "they are not JSON"),
        ("[]", "they must be an object, not a list"),
        ("{}", "name: is missing"),
        ('{"name": null}', "name: must be text, not null"),
        ('{"name": ""}', "name: must not be empty"),
        (
            '{"name": "x", "nam": 1}',
            "nam: is unknown; known are name, count, offset, on, kind, items",
        ),
        ('{"name": "x", "count": true}', "count: must be a whole number, not true"),
        ('{"name": "x", "count": 1.5}', "count: must be a whole number, not the number 1.5"),
        ('{"name": "x", "count": 10}', "count: must be from 1 to 9, not 10"),
        ('{"name": "x", "offset": -1}', "offset: must be 1 or more, not -1"),
        ('{"name": "x", "on": "yes"}', "on: must be true or false, not the text 'yes'"),
        ('{"name": "x", "kind": "c"}', "kind: must be one of a, b, not the text 'c'"),
        ('{"name": "x", "items": []}', "items: needs at least 1"),
        ('{"name": "x", "items": [{"x": "1"}, {"x": 1}]}', "items[1].x: must be text"),
        ('{"name": "x", "items": [{}]}', "items[0].x: is missing"),
    ],
)
def test_the_path_of_the_fault_is_named(arguments: str, fault: str) -> None:
    with pytest.raises(InputInvalidError) as caught:
        read_input(SCHEMA, arguments)

    assert str(caught.value).startswith(fault)


def test_an_optional_null_counts_as_absent() -> None:
    assert read_input(SCHEMA, '{"name": "x", "count": null}') == {"name": "x"}


def test_every_tool_has_a_closed_schema_that_is_one() -> None:
    tools = builtin_tools("full", os.environ)

    for tool in tools.values():
        Draft202012Validator.check_schema(dict(tool.schema))
        assert tool.schema["additionalProperties"] is False
        assert tool.summary
    assert sorted(tools) == [
        "fetch",
        "glob",
        "grep",
        "job",
        "patch",
        "read",
        "shell",
        "subagent",
        "todo",
        "write",
    ]
    assert {name: len(builtin_tools(name, {})) for name in PROFILE_NAMES} == {
        "read-only": 6,
        "workspace": 10,
        "full": 10,
    }


def test_an_unknown_tool_is_a_failed_result(bench: Bench) -> None:
    outcome = prepare(builtin_tools("read-only", {}), "rm", "{}", bench.context)

    assert outcome == ToolOutcome(
        "there is no tool 'rm'; known are glob, grep, read, shell, subagent, todo",
        failed=True,
        reason="unknown tool",
    )


def test_a_plan_is_shown_and_counted(bench: Bench) -> None:
    tool = builtin_tools("workspace", {})["todo"]
    items = [{"content": "a", "status": "completed"}, {"content": "b\nc", "status": "in_progress"}]

    assert bench.prepare(tool, items=items).view.title == "Plan: b…"
    assert bench.call(tool, items=items).output == "[x] a\n[>] b…\n1 of 2 done"
