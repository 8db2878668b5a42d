"""Reading one TOML file, bounded, with the line of whatever is wrong with it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, cast

from ops.findings import Findings, Problem, Table
from ops.plain_file import plain
from ops.toml_lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FILE_BYTES = 1024 * 1024
"""A declaration larger than this is no declaration; tomllib is slow on megabytes."""

MAX_DEPTH = 100
"""Keys and places inside each other; what walks a declaration calls itself for each level."""

_DEEP_KEY = re.compile(
    rf"""(?:^|[\[{{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{MAX_DEPTH}}}""",
    re.MULTILINE,
)
"""Looked for before tomllib reads, whose time grows with the square of the parts of a key."""

_MAX_DIGITS = 4300
_LONG_INTEGER = re.compile(rf"[0-9](?:_?[0-9]){{{_MAX_DIGITS}}}")
"""What Python refuses to read, in words that name neither a line nor a key."""

_PLACE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)")


def read_table(root: str, file: str) -> tuple[Table | None, Findings]:
    """Read ``file`` (relative to ``root``); no table when it can't be read, and why."""
    findings = Findings(file, LineIndex(""))
    text = ""
    try:
        text = _read(os.path.join(root, file))
        values = parse_toml(text)
    except (OSError, ValueError, RecursionError) as error:
        findings.problems.append(_broken(file, error, text))
        return None, findings
    findings.lines = LineIndex(text)
    return Table(values, (), "", findings), findings


def _read(path: str) -> str:
    with open(path, "rb", opener=plain) as stream:
        data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        msg = f"larger than {MAX_FILE_BYTES} bytes"
        raise ValueError(msg)
    return data.decode("utf-8-sig")


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a text declares, nested no deeper than `MAX_DEPTH`.

    Raises:
        ValueError: The text is not TOML.
        RecursionError: It is nested too deeply.

    """
    import tomllib

    if _DEEP_KEY.search(text):
        raise RecursionError
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        if (long := _LONG_INTEGER.search(text)) is None:
            raise
        line = text.count("\n", 0, long.start()) + 1
        msg = f"an integer has more than {_MAX_DIGITS} digits (at line {line}, column 1)"
        raise ValueError(msg) from error
    if _is_deep(values):
        raise RecursionError
    return values


def _is_deep(values: object) -> bool:
    level = [values]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _members(outer)]
        if not level:
            return False
    return True


def _members(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def _broken(file: str, error: Exception, text: str) -> Problem:
    if isinstance(error, OSError):
        return Problem(file, 1, f"can't be read: {error.strerror}")
    if isinstance(error, UnicodeDecodeError):
        return Problem(file, error.object[: error.start].count(b"\n") + 1, "is not UTF-8")
    if isinstance(error, RecursionError):
        deep = _DEEP_KEY.search(text)
        line = text.count("\n", 0, deep.end()) + 1 if deep else 1
        return Problem(file, line, f"is nested too deeply; at most {MAX_DEPTH} levels")
    place = _PLACE.search(str(error))
    line = (int(place[1]) if place[1] else text.count("\n") + 1) if place else 1
    said = _PLACE.sub("", str(error)).strip()
    return Problem(file, line, f"not valid TOML: {said}" if place else said)
