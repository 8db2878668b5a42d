"""Looks at resources for tests: a folder, an environment, and a cancel that a test can set."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ops.findings import Findings, Table
from ops.resources.reader import Look, Observation
from ops.resources.resource import read_resource
from ops.toml_lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ops.resources.resource import Resource


class Cancel:
    """Set by the test."""

    def __init__(self) -> None:
        self._set = False
        self._callbacks: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        return self._set

    def on_cancel(self, callback: Callable[[], None]) -> None:
        if self._set:
            callback()
        else:
            self._callbacks.append(callback)

    def set(self) -> None:
        self._set = True
        for callback in self._callbacks:
            callback()


def resource(reader: str, **keys: Any) -> Resource:
    """Make a resource as its declaration would; findings fail the test."""
    values = {"name": "it", "reader": reader, **keys}
    table = Table(values, (), "", Findings("it.resource.toml", LineIndex("")))
    made = read_resource(table)
    assert table.findings.problems == []
    return made


def look(
    folder: Path,
    reader: str,
    *,
    environ: Mapping[str, str] | None = None,
    cancel: Cancel | None = None,
    timeout_s: float = 10.0,
    **keys: Any,
) -> Observation:
    """Read one resource."""
    made = resource(reader, **keys)
    given = dict(os.environ if environ is None else environ)
    return made.reader.read(
        made.keys, Look(str(folder), given, cancel or Cancel(), timeout_s=timeout_s)
    )
