"""Records as JSON objects and back.  Pure.

Keys that are not known are passed over; a type that is not known, or a known one without what it
needs, is told from the rest, so that a reader can go on.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from protocol.values import frozen
from runtimes.models.base import Kept, Reasoning, Text, Usage
from runtimes.models.json_text import tables, text_of
from runtimes.radian import records
from runtimes.radian.records import FORMAT, ImageFile, Parent, Resource, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtimes.radian.records import Entry, Record


class UnknownRecord(ValueError):  # noqa: N818 - an answer to the reader, who goes on
    """A record of a type that this version does not know."""


class OddRecord(ValueError):  # noqa: N818
    """A record of a known type that lacks something, or has something else in its place."""


def to_table(entry: Entry) -> dict[str, Any]:
    """Return the object that `from_table` reads."""
    record = entry.record
    table: dict[str, Any] = {
        "v": FORMAT,
        "seq": entry.seq,
        "ts": entry.ts,
        "type": type(record).__name__,
    }
    _fill(table, record)
    return table


def from_table(table: Mapping[str, Any]) -> Record:
    """Return the record that a JSON object of a journal is.

    Raises:
        UnknownRecord: Its type is not known.
        OddRecord: It can't be what its type says.

    """
    kind = table.get("type")
    if not isinstance(kind, str) or kind not in _RECORDS:
        raise UnknownRecord(str(kind))
    return cast("Record", _read(_READERS[kind], table))


# --- writing


def _fill(table: dict[str, Any], value: Any) -> None:
    for field in _READERS[type(value).__name__].fields:
        content = getattr(value, field.name)
        if field.required or content != field.default:
            table[field.name] = field.write(content)


def _filled(value: Any) -> dict[str, Any]:
    table: dict[str, Any] = {}
    _fill(table, value)
    return table


def _tagged(parts: tuple[Any, ...]) -> list[dict[str, Any]]:
    tagged: list[dict[str, Any]] = []
    for part in parts:
        table: dict[str, Any] = {"type": _TAGS[type(part)]}
        _fill(table, part)
        tagged.append(table)
    return tagged


def _same(value: Any) -> Any:
    return value


# --- reading


@frozen
class _Field:
    """One key: the JSON types it may have, what absence means, and how to convert it."""

    name: str
    kinds: tuple[type, ...]
    required: bool
    default: Any
    read: Callable[[Any], Any] | None
    write: Callable[[Any], Any]


@frozen
class _Reads:
    """How objects of one class are read."""

    cls: type
    fields: tuple[_Field, ...]


def _read(reads: _Reads, table: Mapping[str, Any]) -> Any:
    values: list[Any] = []
    for field in reads.fields:
        value = table.get(field.name)
        if value is None and not field.required:
            values.append(field.default)
            continue
        if type(value) not in field.kinds:
            message = f"{table.get('type', 'object')}.{field.name} is {type(value).__name__}"
            raise OddRecord(message)
        values.append(value if field.read is None else field.read(value))
    return reads.cls(*values)


def _one_of(name: str, known: tuple[str, ...]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in known:
            message = f"{name} is {value!r}"
            raise OddRecord(message)
        return value

    return read


def _parts(value: Any) -> tuple[Any, ...]:
    """Read parts of a message; those of an unknown type are passed over."""
    parts: list[Any] = []
    for table in tables(value):
        name = _PARTS.get(text_of(table.get("type")))
        if name is not None:
            parts.append(_read(_READERS[name], table))
    return tuple(parts)


def _nested(cls: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        return _read(_READERS[cls.__name__], value)

    return read


_ANY = (str, int, float, bool, list, dict, NoneType)
_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "Any": _ANY,
    "Mapping[str, Any]": (dict,),
    "Usage": (dict,),
    "Parent": (dict,),
    "tuple[UserPart, ...]": (list,),
    "tuple[AssistantPart, ...]": (list,),
}
"""From annotations, as they stand in the code, to types of JSON."""


def _field(cls: type, name: str, annotation: str, default: Any) -> _Field:
    bare = annotation.removesuffix(" | None")
    required = default is MISSING
    given = None if required else default
    literal: Any = getattr(records, bare, None)
    if hasattr(literal, "__args__") and bare not in _KINDS:
        read = _one_of(f"{cls.__name__}.{name}", literal.__args__)
        return _Field(name, (str,), required, given, read, _same)
    if bare.startswith("tuple"):
        return _Field(name, (list,), required, given, _parts, _tagged)
    if bare in {"Usage", "Parent"}:
        read = _nested(Usage if bare == "Usage" else Parent)
        return _Field(name, (dict,), required, given, read, _filled)
    return _Field(name, _KINDS[bare], required, given, None, _same)


def _reads(cls: Any) -> _Reads:
    made = (_field(cls, each.name, str(each.type), each.default) for each in fields(cls))
    return _Reads(cls, tuple(made))


_TAGS: dict[type, str] = {
    Text: "text",
    Reasoning: "reasoning",
    Kept: "kept",
    ToolCall: "tool_call",
    ImageFile: "image",
    Resource: "resource",
}
RECORD_TYPES: tuple[Any, ...] = records.Record.__args__
"""Every class of a record, in the order of the reference."""
_RECORDS = frozenset(each.__name__ for each in RECORD_TYPES)
_PARTS = {tag: cls.__name__ for cls, tag in _TAGS.items()}


class _Readers(dict[str, _Reads]):
    """By name of the class; made when one is asked for: a short turn needs a third of them."""

    def __missing__(self, name: str) -> _Reads:
        made = self[name] = _reads(_CLASSES[name])
        return made


_CLASSES: dict[str, Any] = {each.__name__: each for each in (*RECORD_TYPES, *_TAGS, Usage, Parent)}
_READERS = _Readers()
