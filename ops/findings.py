"""Reading tables of TOML with findings: each has file, line and reason, and none hides another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ops.durations import parse_duration
from ops.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ops.toml_lines import KeyPath, LineIndex

T = TypeVar("T")

KINDS: dict[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A finding in a file of the project; ``file`` is relative to the project."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(slots=True)
class Findings:
    """Collects the problems of one file."""

    file: str
    lines: LineIndex
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, path: KeyPath, reason: str) -> None:
        """Note ``reason`` at the line of ``path``."""
        self.problems.append(Problem(self.file, self.lines.line(path), reason))


class Table:
    """One table of a file: hands out typed values, notes what is missing, wrong or unknown.

    ``what`` names it in messages (``step pack``).  A value that is wrong reads as the default.
    """

    def __init__(self, values: Any, path: KeyPath, what: str, findings: Findings) -> None:
        if not isinstance(values, dict):
            findings.add(path, f"{what} must be a table, not {values!r}")
            values = {}
        self.values = cast("dict[str, Any]", values)
        self.path = path
        self.what = what
        self.findings = findings
        self._read: set[str] = set()

    def text(self, key: str, default: str = "", *, required: bool = False) -> str:
        """Return a text."""
        return self._typed(key, str, default, required=required)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return a boolean."""
        return self._typed(key, bool, default)

    def whole(self, key: str, default: int, *, least: int = 0) -> int:
        """Return an integer of at least ``least``."""
        value = self._typed(key, int, default)
        if value < least:
            self.problem(key, f"{key} must be at least {least}, not {value}")
            return default
        return value

    def number(self, key: str, default: float, *, least: float = 0.0) -> float:
        """Return a number of at least ``least``; an integer will do."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
            self.problem(key, f"{key} must be a number of at least {least:g}, not {value!r}")
            return default
        return float(value)

    def duration(self, key: str) -> float | None:
        """Return seconds, None when absent."""
        self._read.add(key)
        if key not in self.values:
            return None
        text = self.text(key)
        try:
            return parse_duration(text) if text else None
        except ValueError as error:
            self.problem(key, str(error))
            return None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        items = self.items(key)
        if all(isinstance(item, str) for item in items):
            return tuple(cast("list[str]", items))
        self.problem(key, f"{key} must be a list of texts")
        return ()

    def items(self, key: str) -> list[Any]:
        """Return a list, empty when absent."""
        empty: list[Any] = []
        return self._typed(key, list, empty)

    def table(self, key: str, what: str) -> Table:
        """Return a table inside this one, empty when absent."""
        return Table(self.take(key, {}), (*self.path, key), what, self.findings)

    def tables(self, key: str, what: str) -> list[Table]:
        """Return a list of tables; ``what`` gets the place of each behind it."""
        place = (*self.path, key)
        return [
            Table(item, (*place, index), f"{what} {index + 1}", self.findings)
            for index, item in enumerate(self.items(key))
        ]

    def text_map(self, key: str) -> dict[str, str]:
        """Return a table of texts."""
        table = self.table(key, key)
        return {name: table.text(name) for name in list(table.values)}

    def take(self, key: str, default: Any = None) -> Any:
        """Return a value of any kind."""
        self._read.add(key)
        return self.values.get(key, default)

    def problem(self, key: str, reason: str) -> None:
        """Note ``reason`` at the line of ``key``."""
        self.findings.add((*self.path, key), f"{self.what}: {reason}" if self.what else reason)

    def close(self, also: Iterable[str] = ()) -> None:
        """Note every key that nobody read; ``also`` are known keys that were passed over."""
        known = self._read | set(also)
        for key in self.values:
            if key not in known:
                close = nearest(key, known)
                hint = f" (did you mean {close}?)" if close else ""
                listed = ", ".join(sorted(known))
                self.problem(key, f"unknown key {key!r}{hint}; known: {listed}")

    def _typed(self, key: str, kind: type[T], default: T, *, required: bool = False) -> T:
        self._read.add(key)
        if key not in self.values:
            if required:
                self.findings.add(self.path, f"{self.what}: {key} is missing")
            return default
        value = self.values[key]
        # bool is an int to Python, but not to the person who wrote it.
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        self.problem(key, f"{key} must be {KINDS[kind]}, not {value!r}")
        return default
