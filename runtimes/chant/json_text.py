"""JSON for people and files: what a verb prints, a run's record.  Never raises for a value.

The wire has its own encoder in `protocol`; this one keeps text readable and takes dates, which
TOML has and JSON has not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast


def json_line(value: Any) -> str:
    """Return ``value`` on one line, which ends in a newline."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_other) + "\n"


def json_page(value: Any) -> str:
    """Return ``value`` indented, for people."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=_other) + "\n"


def plain(value: Any) -> Any:
    """Return ``value`` made of JSON's own types: dates become text, mappings become objects."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, Any]", value)
        return {str(key): plain(member) for key, member in pairs.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[Any]", value)]
    return plain(_other(value))


def _other(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, set | frozenset):
        return sorted(map(str, cast("set[object]", value)))
    return str(value)
