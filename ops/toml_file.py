"""Reading one TOML file, bounded, with the line of whatever is wrong with it."""

from __future__ import annotations

import os
import re
from typing import Any

from ops.findings import Findings, Problem, Table
from ops.toml_lines import LineIndex

MAX_FILE_BYTES = 1024 * 1024
"""A declaration larger than this is no declaration; tomllib is slow on megabytes."""

_PLACE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)")


def read_table(root: str, file: str) -> tuple[Table | None, Findings]:
    """Read ``file`` (relative to ``root``); no table when it can't be read, and why."""
    findings = Findings(file, LineIndex(""))
    text = ""
    try:
        text = _read(os.path.join(root, file))
        values = _parse(text)
    except (OSError, ValueError, RecursionError) as error:
        findings.problems.append(_broken(file, error, text.count("\n") + 1))
        return None, findings
    findings.lines = LineIndex(text)
    return Table(values, (), "", findings), findings


def _read(path: str) -> str:
    with open(path, "rb") as stream:
        data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        msg = f"larger than {MAX_FILE_BYTES} bytes"
        raise ValueError(msg)
    return data.decode("utf-8-sig")


def _parse(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


def _broken(file: str, error: Exception, last_line: int) -> Problem:
    if isinstance(error, OSError):
        return Problem(file, 1, f"can't be read: {error.strerror}")
    if isinstance(error, UnicodeDecodeError):
        return Problem(file, error.object[: error.start].count(b"\n") + 1, "is not UTF-8")
    if isinstance(error, RecursionError):
        return Problem(file, 1, "is nested too deeply")
    place = _PLACE.search(str(error))
    line = (int(place[1]) if place[1] else last_line) if place else 1
    said = _PLACE.sub("", str(error)).strip()
    return Problem(file, line, f"not valid TOML: {said}" if place else said)
