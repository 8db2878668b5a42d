"""A declared resource, and reading its declarations from chant.toml and ``*.resource.toml``."""

from __future__ import annotations

import os
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

from ops.errors import OpsError, unknown
from ops.project import CONFIG
from ops.resources.table import READERS
from ops.toml_file import read_table
from ops.tree_walk import walk_files
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.findings import Problem, Table
    from ops.project import Project
    from ops.resources.reader import Key, Reader

SUFFIX = ".resource.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
DEFAULT_TIMEOUT_S = 10.0
MAX_TIMEOUT_S = 300.0


class ResourceNotFound(OpsError):  # noqa: N818 - the tree names what happened
    """No resource of that name; the message lists those that there are."""


@frozen
class Resource:
    """One declared thing.  ``keys`` are its reader's, checked; ``expect`` are facts, None: any."""

    name: str
    reader: Reader
    keys: Mapping[str, Any]
    expect: Mapping[str, Any] | None = None
    description: str = ""
    environments: tuple[str, ...] = ()
    """Where it should exist; empty: everywhere."""
    op: str | None = None
    """The Op that brings it about, for people who read a plan."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    file: str = CONFIG
    line: int = 1


@frozen
class Declared:
    """The resources of a project by name, and what is wrong with the others."""

    resources: Mapping[str, Resource] = field(default_factory=dict[str, Resource])
    problems: tuple[Problem, ...] = ()

    def find(self, name: str) -> Resource:
        """Return the resource called ``name``.

        Raises:
            ResourceNotFound: There is none.

        """
        if name not in self.resources:
            raise ResourceNotFound(unknown("resource", name, self.resources))
        return self.resources[name]

    def in_environment(self, env: str) -> dict[str, Resource]:
        """Return those that should exist in ``env``."""
        every = self.resources.items()
        return {name: r for name, r in every if not r.environments or env in r.environments}


def load_resources(project: Project) -> Declared:
    """Read every declaration; a broken one never hides the others."""
    found: dict[str, Resource] = {}
    problems: list[Problem] = []
    for table in _tables(project, problems):
        before = len(table.findings.problems)
        resource = read_resource(table, project.known_environments)
        if resource.name in found:
            other = found[resource.name]
            table.problem("name", f"resource {resource.name!r} is also in {other.file}")
        new = table.findings.problems[before:]
        problems += new
        if not new:
            found[resource.name] = resource
    return Declared(dict(sorted(found.items())), tuple(sorted(problems)))


def read_resource(table: Table, environments: tuple[str, ...] = ("local",)) -> Resource:
    """Read one declaration; what is wrong with it is noted in the table's findings."""
    name = table.text("name", required=True)
    table.what = f"resource {name}" if name else table.what
    if name and not NAME.fullmatch(name):
        table.problem("name", f"name {name!r}: letters, digits, _, - and . only")
    asked = table.text("reader", required=True)
    reader = READERS.get(asked)
    if reader is None:
        if asked:
            table.problem("reader", unknown("reader", asked, READERS))
        reader, known = READERS["file"], False
    else:
        known = True
    resource = Resource(
        name,
        reader,
        _keys(table, reader) if known else {},
        _expect(table, reader) if "expect" in table.values and known else None,
        table.text("description"),
        table.texts("environments"),
        table.text("op") or None,
        _timeout_s(table),
        table.findings.file,
        table.findings.lines.line(table.path),
    )
    for env in resource.environments:
        if env not in environments:
            table.problem("environments", unknown("environment", env, environments))
    if known:
        table.close({"expect"})
    return resource


def _tables(project: Project, problems: list[Problem]) -> Iterator[Table]:
    if project.config:
        # Read again for its lines; that it can be read was found out when the project was.
        top, _ = read_table(project.root, CONFIG)
        yield from top.tables("resource", "resource") if top else ()
    for file in walk_files(project.root, (SUFFIX,), problems):
        table, findings = read_table(project.root, file)
        if table is None:
            problems += findings.problems
            continue
        table.what = os.path.basename(file).removesuffix(SUFFIX)
        yield table


def _timeout_s(table: Table) -> float:
    seconds = table.duration("timeout")
    if seconds is not None and not 0 < seconds <= MAX_TIMEOUT_S:
        table.problem("timeout", f"timeout must be over 0 and up to {MAX_TIMEOUT_S:g} s")
    return seconds or DEFAULT_TIMEOUT_S


def _keys(table: Table, reader: Reader) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    for key in reader.keys:
        if key.name in table.values:
            keys[key.name] = _value(table, key)
        elif key.required:
            table.problem(key.name, f"{key.name} is missing: {key.summary}")
    if reader.one_of and len(keys.keys() & set(reader.one_of)) != 1:
        listed = ", ".join(reader.one_of)
        table.problem("reader", f"reader {reader.name} needs exactly one of {listed}")
    return keys


def _value(table: Table, key: Key) -> Any:
    match key.kind:
        case "text":
            return table.text(key.name)
        case "whole":
            return table.whole(key.name, 0)
        case "flag":
            return table.flag(key.name)
        case "texts":
            return table.texts(key.name)
        case "text_map":
            return table.text_map(key.name)
        case "wholes":
            return _wholes(table, key.name)
        case "command":
            listed = isinstance(table.values[key.name], list)
            return table.texts(key.name) if listed else table.text(key.name)


def _wholes(table: Table, name: str) -> tuple[int, ...]:
    items = table.items(name)
    if all(isinstance(item, int) and not isinstance(item, bool) for item in items):
        return tuple(cast("list[int]", items))
    table.problem(name, f"{name} must be a list of whole numbers")
    return ()


def _expect(table: Table, reader: Reader) -> dict[str, Any]:
    expected = table.table("expect", "expect")
    for name in expected.values:
        if not reader.any_fact and name not in reader.facts:
            expected.problem(name, unknown(f"fact of {reader.name}", name, reader.facts))
    return dict(expected.values)
